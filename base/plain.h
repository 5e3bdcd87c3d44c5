/* SPDX-License-Identifier: MIT */
/*
 * Text without control characters. Names of files, sections and symbols may hold any bytes, and a message is
 * one line on a terminal. So control characters, and bytes that are no UTF-8, become a backslash and 3 octal digits.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"

/* The bytes of the first character of text, which is not empty; 0 for a control character, U+0080 to U+009F with them, and for a byte
 * that is no UTF-8: terminals may obey 0x80 to 0x9f alone, too. */
size_t plain_stays(const char *text);
/* True if text can stay as it is. */
bool plain_is(const char *text);

/* Returns the changed text, which the caller frees. NULL when memory runs out. */
ATTR_MUST_CHECK char *plain_dup(const char *text);
/* Copies what fits, and no part of an escape or a character. size is at least 1. */
void plain_copy(char *to, size_t size, const char *text);
void plain_print(const char *text, FILE *out);

/*
 * Passes on a piece of JSON, where control characters that JSON permits become \u escapes: DEL and U+0080 to U+009F.
 * The piece has whole characters. Ends with the first result of put that is not 0, and returns it.
 */
typedef int plain_put_fn(const char *piece, size_t size, void *context);
ATTR_MUST_CHECK int plain_json(
    const char *piece, size_t size, plain_put_fn *put, void *context);

#endif
