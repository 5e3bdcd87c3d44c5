/* SPDX-License-Identifier: MIT */
/* Text without control characters. */
#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

enum { PLAIN_ESCAPE = 4 };

/*
 * Terminals obey 0x80 to 0x9f, too, alone or in UTF-8 after 0xc2. After another byte from
 * 0x80 on they are part of a letter.
 */
static bool plain_is_control(unsigned char before, unsigned char c)
{
	if (c < 0x80)
		return c < ' ' || c == 0x7f;
	return c < 0xa0 && (before < 0x80 || before == 0xc2);
}

/* True if the i-th byte of text is a control character, or completes one. */
static bool plain_has_control(const char *text, size_t i)
{
	return plain_is_control(
	    i ? (unsigned char)text[i - 1] : 0, (unsigned char)text[i]);
}

bool plain_is(const char *text)
{
	for (size_t i = 0; text[i]; i++)
		if (plain_has_control(text, i))
			return false;
	return true;
}

/* Writes the i-th byte of text as 1 or 4 characters, and returns their number. */
static size_t plain_byte(const char *text, size_t i, char to[PLAIN_ESCAPE])
{
	unsigned char c = (unsigned char)text[i];

	if (!plain_has_control(text, i)) {
		to[0] = text[i];
		return 1;
	}
	to[0] = '\\';
	to[1] = (char)('0' + (c >> 6));
	to[2] = (char)('0' + (c >> 3 & 7));
	to[3] = (char)('0' + (c & 7));
	return PLAIN_ESCAPE;
}

void plain_copy(char *to, size_t size, const char *text)
{
	char bytes[PLAIN_ESCAPE];
	size_t used = 0;

	for (size_t i = 0; text[i]; i++) {
		size_t n = plain_byte(text, i, bytes);

		if (used + n >= size)
			break;
		memcpy(to + used, bytes, n);
		used += n;
	}
	to[used] = '\0';
}

char *plain_dup(const char *text)
{
	size_t size = strlen(text) * PLAIN_ESCAPE + 1;
	char *copy = malloc(size);

	if (copy)
		plain_copy(copy, size, text);
	return copy;
}

void plain_print(const char *text, FILE *out)
{
	char bytes[PLAIN_ESCAPE];

	for (size_t i = 0; text[i]; i++)
		fwrite(bytes, 1, plain_byte(text, i, bytes), out);
}

int plain_json(const char *piece, size_t size, plain_put_fn *put, void *context)
{
	size_t done = 0;
	int status = 0;

	for (size_t i = 0; i < size && !status; i++) {
		const unsigned char c = (unsigned char)piece[i];
		const unsigned char next = i + 1 < size ? (unsigned char)piece[i + 1] : 0;
		const bool two = c == 0xc2 && next >= 0x80 && next < 0xa0;
		char escape[8];

		if (c != 0x7f && !two)
			continue;
		if (i > done)
			status = put(piece + done, i - done, context);
		snprintf(escape, sizeof(escape), "\\u%04x", two ? next : c);
		if (!status)
			status = put(escape, 6, context);
		i += two;
		done = i + 1;
	}
	return status || done == size ? status : put(piece + done, size - done, context);
}
