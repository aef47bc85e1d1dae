#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// OpenSSL offers these as macros only, which Swift cannot import.

static inline int vocative_ctx_set_versions(SSL_CTX *ctx) {
  return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) &&
         SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION);
}

static inline void vocative_ctx_set_options(SSL_CTX *ctx) {
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}

static inline int vocative_ctx_set_groups(SSL_CTX *ctx, const char *groups) {
  return SSL_CTX_set1_groups_list(ctx, groups);
}

static inline int vocative_ctx_add_chain_certificate(SSL_CTX *ctx, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(ctx, certificate);
}

static inline int vocative_accept_server_name(SSL *ssl, int *alert, void *argument) {
  (void)ssl, (void)alert, (void)argument;
  return SSL_TLSEXT_ERR_OK;
}

// Without a callback that accepts it, OpenSSL forgets the server name of a resumed session.
static inline void vocative_ctx_accept_server_names(SSL_CTX *ctx) {
  SSL_CTX_set_tlsext_servername_callback(ctx, vocative_accept_server_name);
}

static inline int vocative_ctx_new_index(CRYPTO_EX_free *release) {
  return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release);
}

static inline void vocative_bio_retry_read(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
}

static inline void vocative_bio_no_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline int vocative_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

static inline int vocative_general_name_count(const GENERAL_NAMES *names) {
  return sk_GENERAL_NAME_num(names);
}

static inline const GENERAL_NAME *vocative_general_name(const GENERAL_NAMES *names, int index) {
  return sk_GENERAL_NAME_value(names, index);
}

static inline const ASN1_IA5STRING *vocative_general_name_text(const GENERAL_NAME *name) {
  return (name->type == GEN_DNS || name->type == GEN_EMAIL || name->type == GEN_URI)
             ? name->d.ia5
             : NULL;
}

static inline const ASN1_OCTET_STRING *vocative_general_name_address(const GENERAL_NAME *name) {
  return name->type == GEN_IPADD ? name->d.iPAddress : NULL;
}

static inline int vocative_general_name_type(const GENERAL_NAME *name) { return name->type; }

// RFC 2253 order and escaping, with bytes beyond ASCII kept as UTF-8.
static inline unsigned long vocative_name_flags(void) {
  return (XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) | ASN1_STRFLGS_UTF8_CONVERT;
}

// OSSL_PARAM keeps the name's address, which a Swift string has only for the length of a call.
static inline int vocative_mac_use_sha256(EVP_MAC_CTX *mac, const unsigned char *key,
                                          size_t length) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, length),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, parameters);
}
