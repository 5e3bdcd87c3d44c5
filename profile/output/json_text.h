/* SPDX-License-Identifier: MIT */
/* Text as JSON that can stand in a page. */
#ifndef PROFILE_OUTPUT_JSON_TEXT_H
#define PROFILE_OUTPUT_JSON_TEXT_H

#include <stdio.h>

/*
 * Writes any bytes as a JSON string, with its quotes. What is not UTF-8 becomes U+FFFD. The
 * characters of markup are escaped, so that no text ends the element that it is in.
 */
void json_text_write(const char *text, FILE *out);
/* A further member of an object. */
void json_text_member(const char *name, const char *text, FILE *out);

#endif
