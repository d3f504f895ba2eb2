#pragma once
#include <gmp.h>
#include <stdbool.h>
#include <string.h>

// The library's functions are macros, which Swift doesn't see.

// The inverse of number modulo modulus, all of 32 bytes, the highest first. False if there is none.
static inline bool gmp_invert(
    const unsigned char *number, const unsigned char *modulus, unsigned char *inverse) {
    mpz_t n, m;
    mpz_inits(n, m, NULL);
    mpz_import(n, 32, 1, 1, 1, 0, number);
    mpz_import(m, 32, 1, 1, 1, 0, modulus);
    bool isInvertible = mpz_invert(n, n, m) != 0;
    if (isInvertible) {
        size_t count = (mpz_sizeinbase(n, 2) + 7) / 8;
        memset(inverse, 0, 32 - count);
        mpz_export(inverse + 32 - count, NULL, 1, 1, 1, 0, n);
    }
    mpz_clears(n, m, NULL);
    return isInvertible;
}
