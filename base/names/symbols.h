/* SPDX-License-Identifier: MIT */
/* Names of functions by address. */
#ifndef BASE_NAMES_SYMBOLS_H
#define BASE_NAMES_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* The bit of a version that is not the default one ("cfree@GLIBC_2.2.5"). Ranks of symbols without a type begin at the
 * second: labels of hand-written code. */
enum { SYMBOL_OLD = 2, SYMBOL_UNTYPED = 32 };

/* Longest sum of all names, as a multiple of the tables that they are in. Names may be the ends of others, so
 * that a small hostile table has many long ones; honest files stay far below. The names behind it are left
 * out. */
enum { SYMBOLS_NAMES_SHARE = 16 };

struct symbol {
	uint64_t addr, size; /* bytes */
	const char *name;    /* borrowed from the table, as it is there */
	uint32_t rank;	     /* of several names at one address, the lowest is reported */
};

struct symbols {
	struct symbol *list; /* functions only, ascending by addr, aliases too */
	size_t n, cap;
	bool dynamic; /* of .dynsym, because .symtab is missing */
};

/* Returns the rank of a name among several at one address, by the name, STT_*, STB_* and its size. */
uint8_t symbol_rank(
    const char *name, unsigned int type, unsigned int bind, uint64_t size);

/* Returns the bytes of a name without the version that linkers put behind it ("fopen@@GLIBC_2.2.5"). */
size_t symbol_name_size(const char *name);

/* False when memory runs out; the list is then as it was. */
ATTR_MUST_CHECK bool symbols_add(struct symbols *symbols, const struct symbol *symbol);
/* Call it after the last one was added. */
void symbols_sort(struct symbols *symbols);
void symbols_deinit(struct symbols *symbols);

/* The symbol that covers pc: greatest start not above it, whose size (when not 0) reaches
 * it. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t pc);

/* The readable name of the function at pc, which the caller frees. NULL when it has none,
 * or memory runs out. */
char *symbols_readable(const struct symbols *symbols, uint64_t pc);

#endif
