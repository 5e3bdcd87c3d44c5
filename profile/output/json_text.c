/* SPDX-License-Identifier: MIT */
#include "profile/output/json_text.h"

#include <stdint.h>
#include <string.h>

/* The bytes of the UTF-8 character at text, "RFC 3629, 4"; 0 when it is none. */
static size_t json_text_utf8(const char *bytes)
{
	const unsigned char *text = (const unsigned char *)bytes;
	static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = text[0] < 0x80   ? 1
		   : text[0] < 0xc0 ? 0
		   : text[0] < 0xe0 ? 2
		   : text[0] < 0xf0 ? 3
		   : text[0] < 0xf8 ? 4
				    : 0;
	uint32_t value = n > 1 ? text[0] & (0x7fU >> n) : text[0];

	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	if (n > 1 &&
	    (value < LEAST[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)))
		return 0;
	return n;
}

void json_text_write(const char *text, FILE *out)
{
	size_t n;

	fputc('"', out);
	for (; *text; text += n) {
		n = json_text_utf8(text);
		if (!n) {
			fputs("\\ufffd", out);
			n = 1;
		} else if (n > 1) {
			fwrite(text, 1, n, out);
		} else if (strchr("\"\\<>&", *text) || (unsigned char)*text < ' ') {
			fprintf(out, "\\u%04x", (unsigned int)*text);
		} else {
			fputc(*text, out);
		}
	}
	fputc('"', out);
}

void json_text_member(const char *name, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", name);
	json_text_write(text, out);
}
