/* SPDX-License-Identifier: MIT */
/* Calls libiberty, and stops it when a name gets too long. */
#include "base/names/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

struct plain {
	char *text; /* of SYMBOL_READABLE bytes */
	size_t n;   /* SYMBOL_READABLE: it is too long */
	bool rust;
	jmp_buf too_long;
};

/* Bytes of pieces between names. */
enum { PLAIN_SHORT = 16 };

static void plain_append(const char *text, size_t n, void *context)
{
	struct plain *plain = context;

	/* Only a jump stops libiberty. It holds no memory during this call, but for names of Rust in Punycode: short pieces
	 * stand between those. */
	if (n >= SYMBOL_READABLE - plain->n) {
		plain->n = SYMBOL_READABLE;
		if (!plain->rust || n <= PLAIN_SHORT)
			longjmp(plain->too_long, 1);
		return;
	}
	memcpy(plain->text + plain->n, text, n);
	plain->n += n;
}

static bool demangle(const char *name, struct plain *plain)
{
	const int style = DMGL_PARAMS | DMGL_ANSI;

	/* Rust first: its older names look like C++. The recursion limit stays on: names
	 * come from the file. */
	plain->rust = true;
	if (rust_demangle_callback(name, style, plain_append, plain))
		return plain->n < SYMBOL_READABLE;
	plain->rust = false;
	plain->n = 0;
	return cplus_demangle_v3_callback(name, style, plain_append, plain) != 0;
}

bool symbol_readable(const char *name, char text[SYMBOL_READABLE])
{
	struct plain plain = {.text = text};

	if (setjmp(plain.too_long) != 0 || !demangle(name, &plain))
		return false;
	text[plain.n] = '\0';
	return true;
}

char *symbol_demangle(const char *name)
{
	char *text = malloc(SYMBOL_READABLE), *readable;

	if (!text)
		return NULL;
	readable = strdup(symbol_readable(name, text) ? text : name);
	free(text);
	return readable;
}
