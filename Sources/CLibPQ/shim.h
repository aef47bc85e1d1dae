// libpq, and the Linux calls its reactor needs that Glibc's module map leaves out.
#include <libpq-fe.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// prctl is variadic, which Swift does not import.
static inline void clibpq_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
