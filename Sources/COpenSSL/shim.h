#pragma once
// Elliptic curves by their own functions, which OpenSSL 3 would rather have behind EVP.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Swift can't see macros: one function for each that is needed.
static inline STACK_OF(X509) *x509_stack_new(void) { return sk_X509_new_null(); }
static inline int x509_stack_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline int x509_stack_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *x509_stack_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline void x509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline void x509_stack_free_all(STACK_OF(X509) *stack) {
    sk_X509_pop_free(stack, X509_free);
}
static inline int cms_signers_count(const STACK_OF(CMS_SignerInfo) *stack) {
    return sk_CMS_SignerInfo_num(stack);
}
static inline CMS_SignerInfo *cms_signers_at(const STACK_OF(CMS_SignerInfo) *stack, int index) {
    return sk_CMS_SignerInfo_value(stack, index);
}
static inline const char *text_stack_first(const STACK_OF(OPENSSL_STRING) *stack) {
    return sk_OPENSSL_STRING_num(stack) > 0 ? sk_OPENSSL_STRING_value(stack, 0) : NULL;
}
static inline EVP_PKEY *rsa_key_generate(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *ec_key_generate(const char *curve) { return EVP_EC_gen(curve); }
static inline long memory_bio_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }
