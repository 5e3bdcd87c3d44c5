/* SPDX-License-Identifier: MIT */
/*
 * Names of files, sections and symbols may hold any bytes, and a message is one line on
 * a terminal. Control characters become a backslash and 3 octal digits; all else stays.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"

/* Whether nothing has to be changed. */
bool plain_is(const char *text);

/* A copy that the caller frees. NULL when memory runs out. */
ATTR_MUST_CHECK char *plain_dup(const char *text);
/* Copies what fits, and no part of an escape. size is at least 1. */
void plain_copy(char *to, size_t size, const char *text);
void plain_print(const char *text, FILE *out);

#endif
