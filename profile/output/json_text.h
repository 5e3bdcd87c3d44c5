/* SPDX-License-Identifier: MIT */
/* Text as JSON that can stand in a page. */
#ifndef PROFILE_OUTPUT_JSON_TEXT_H
#define PROFILE_OUTPUT_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* The bytes of the UTF-8 character at text, "RFC 3629, 4"; 0 when it is none. */
size_t json_text_utf8(const char *text);

/*
 * Writes any bytes as a JSON string, with its quotes. What is not UTF-8 becomes U+FFFD. The
 * characters of markup are escaped, so that no text ends the element that it is in.
 */
void json_text_write(const char *text, FILE *out);
/* A further member of an object. */
void json_text_member(const char *name, const char *text, FILE *out);

#endif
