/* SPDX-License-Identifier: MIT */
/* Bytes of others as text in JSON, which has UTF-8 alone: names of files and functions may be anything. */
#ifndef BASE_JSON_UTF8_H
#define BASE_JSON_UTF8_H

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A value that the caller owns; each byte above 0x7f is "?" where they are not UTF-8. NULL: memory ran out. */
static inline json_t *json_utf8(const char *bytes)
{
	json_t *value = json_string(bytes);
	char *plain = value ? NULL : strdup(bytes);

	for (char *p = plain; p && *p; p++)
		if (*p & 0x80)
			*p = '?';
	if (plain)
		value = json_string(plain);
	free(plain);
	return value;
}

#endif
