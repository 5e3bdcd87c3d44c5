/* SPDX-License-Identifier: MIT */
/* Names of functions by address, from .symtab, else .dynsym, demangled by libiberty. */
#ifndef GEN_INPUT_SYMBOLS_H
#define GEN_INPUT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/input/input.h"

struct symbol {
	uint64_t addr, size; /* bytes */
	const char *name;    /* borrowed from the image, as in the file */
	uint8_t rank;	     /* of several names at one address, the lowest is reported */
};

struct symbols {
	struct symbol *list; /* functions only, ascending by addr, aliases too */
	size_t n, cap;
	bool dynamic; /* of .dynsym, for there is no .symtab */
};

/* Reads them; a damaged table gives what of it is readable. False only out of memory. */
ATTR_MUST_CHECK bool symbols_read(
    const struct image *image, struct symbols *symbols, struct err *err);
void symbols_deinit(struct symbols *symbols);

/* The symbol that covers pc: greatest start not above it, whose size (when not 0) reaches
 * it. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t pc);

/* A readable name of a mangled one (C++, Rust), else a copy; caller frees with free().
 * NULL when memory runs out. */
char *symbol_demangle(const char *name);
/* As symbol_demangle, the name of the function at pc; also NULL when it has none. */
char *symbols_readable(const struct symbols *symbols, uint64_t pc);

/* Longer ones do not help a reader; a hostile one doubles with every few characters of its own. */
#define SYMBOL_READABLE 16384

/* The same without memory; false when the name is not mangled. */
ATTR_MUST_CHECK bool symbol_readable(const char *name, char text[SYMBOL_READABLE]);

#endif
