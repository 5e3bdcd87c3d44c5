/* SPDX-License-Identifier: MIT */
/* Text as JSON that can stand in a page. */
#include <string.h>

#include "base/plain.h"
#include "profile/output/output.h"

void json_text_write(const char *text, FILE *out)
{
	size_t n;

	fputc('"', out);
	for (; *text; text += n) {
		/* JSON has U+0080 to U+009F, which are no plain text. */
		n = *text == '\xc2' && (text[1] & 0xe0) == 0x80 ? 2 : plain_stays(text);
		if (n > 1)
			fwrite(text, 1, n, out);
		else if ((unsigned char)*text >= 0x80)
			fputs("\\ufffd", out);
		else if ((unsigned char)*text < ' ' || strchr("\"\\<>&", *text))
			fprintf(out, "\\u%04x", (unsigned int)*text);
		else
			fputc(*text, out);
		n += n == 0;
	}
	fputc('"', out);
}

void json_text_member(const char *name, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", name);
	json_text_write(text, out);
}
