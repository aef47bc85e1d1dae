// libpq, and the Linux calls its reactor needs that Glibc's module map leaves out.
#include <libpq-fe.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
