/* SPDX-License-Identifier: MIT */
/* Text without control characters. */
#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

enum { PLAIN_ESCAPE = 4 };

size_t plain_stays(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	const size_t n = *c < 0x80 ? 1 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;

	if (*c < ' ' || *c == 0x7f || (*c >= 0x80 && *c < 0xc2) || *c > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than it need be, or U+0080 to U+009F; a surrogate; behind the last of Unicode. */
	if (((*c == 0xc2 || *c == 0xe0) && c[1] < 0xa0) || (*c == 0xf0 && c[1] < 0x90) ||
	    (*c == 0xed && c[1] > 0x9f) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return n;
}

bool plain_is(const char *text)
{
	size_t n = 1;

	for (; *text && n; text += n)
		n = plain_stays(text);
	return n;
}

/* Gives the next piece of text, which is not at its end, and moves on; returns the size of the piece. */
static size_t plain_next(const char **text, char to[PLAIN_ESCAPE])
{
	const unsigned char c = (unsigned char)**text;
	const size_t n = plain_stays(*text);

	if (n) {
		memcpy(to, *text, n);
		*text += n;
		return n;
	}
	(*text)++;
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

	while (*text) {
		size_t n = plain_next(&text, bytes);

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

	while (*text)
		fwrite(bytes, 1, plain_next(&text, bytes), out);
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
