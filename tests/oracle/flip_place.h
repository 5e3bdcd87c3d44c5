/* SPDX-License-Identifier: MIT */
/* The field of a section that a bit is in. */
#ifndef TESTS_ORACLE_FLIP_PLACE_H
#define TESTS_ORACLE_FLIP_PLACE_H

#include <stddef.h>

#include "sframe/decode.h"

enum { FLIP_PLACE = 96 };

/* Writes its name: of a flag or an info byte with the bit, and with what the function or row is. */
void flip_place(
    const struct sf_view *view, size_t at, unsigned int bit, char place[FLIP_PLACE]);

#endif
