/* SPDX-License-Identifier: MIT */
/* Shares in per cent. An empty whole has no share. */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stdint.h>

enum { PERCENT_SIZE = 16 };

/* NAN where the whole is nothing. */
double percent_of(uint64_t part, uint64_t whole);

/* Writes "98.76" and the sign, or "-" where the whole is nothing; returns text. */
const char *percent_text(
    uint64_t part, uint64_t whole, const char *sign, char text[PERCENT_SIZE]);

#endif
