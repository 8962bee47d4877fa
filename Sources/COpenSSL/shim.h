#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift cannot call macros and functions with variable arguments.

static inline EVP_PKEY *copenssl_new_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline int copenssl_set_server_name(SSL *ssl, const char *name) { return (int)SSL_set_tlsext_host_name(ssl, name); }

static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

// TLS 1.2 or later, and no renegotiation. An idle connection has no buffers, and a write that has to be repeated may come
// from another address.
static inline int copenssl_set_rules(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// Without this, an encrypted key makes libcrypto ask for a passphrase on the terminal.
static inline int copenssl_no_passphrase(char *buffer, int size, int is_writing, void *data) { return -1; }
