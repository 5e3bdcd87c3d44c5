/* SPDX-License-Identifier: MIT */
/*
 * .gopclntab, the table that Go's linker writes of all functions (Go 1.16 and newer): where
 * each begins, its name, and how far SP is below its place at the entry, for each instruction.
 * It is loaded, so stripped programs have it, too. Offsets are checked where they are used: a
 * table that leads out of its section is an error, and no part of it is used.
 */
#ifndef GEN_SOURCES_GO_GO_TABLE_H
#define GEN_SOURCES_GO_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum go_version {
	GO_1_16, /* and 1.17: addresses of functions are pointers */
	GO_1_18, /* and 1.19: they count from the start of the text */
	GO_1_20, /* and newer: a function has its first line, too */
};

struct go_table {
	const char *section; /* its name, for messages; borrowed */
	const uint8_t *data; /* borrowed */
	size_t size;	     /* bytes */
	enum go_version version;
	uint8_t quantum; /* bytes that instructions are a multiple of */
	size_t n_funcs;
	uint64_t text; /* the address that functions count from; 0: not told */
	/* Offsets of three parts from data; each is inside. */
	size_t names, pcs, funcs;
	/* Names begin below this offset, so that a zero ends each of them. */
	size_t names_end;
};

/* Flags of a function. */
enum {
	GO_FLAG_TOP = 1,      /* it has no caller */
	GO_FLAG_SP_WRITE = 2, /* it gives SP any value */
};

struct go_func {
	uint64_t start, limit; /* addresses; the next function begins at limit */
	const char *name;      /* borrowed */
	size_t at;	       /* offset of its record */
	size_t sp_at;	       /* offset of the table of SP; 0: it has none */
	uint8_t flags;
};

/* How far SP is below its place at the entry, from the instruction at pc on. */
struct go_level {
	uint64_t pc;
	int64_t below; /* bytes */
};

struct go_levels {
	struct go_level *list; /* owned; ascending */
	size_t n, cap;
	uint64_t end; /* address behind the last instruction */
};

/* True if a table's first 8 bytes are here: the word, two zeros, the quantum, 8. */
bool go_table_begins(const uint8_t *data, size_t size);

/* Reads the header alone, in constant time: no function can be asked for. */
ATTR_MUST_CHECK bool go_table_read_header(const char *section, const uint8_t *data,
    size_t size, struct go_table *table, struct err *err);
/* Reads the header. ERR_MALFORMED, ERR_UNSUPPORTED. data and section are borrowed. */
ATTR_MUST_CHECK bool go_table_read(const char *section, const uint8_t *data, size_t size,
    struct go_table *table, struct err *err);

/* Reads function i, below n_funcs. ERR_MALFORMED. table->text is set where version needs it. */
ATTR_MUST_CHECK bool go_table_func(
    const struct go_table *table, size_t i, struct go_func *func, struct err *err);

/* Reads the table of SP of a function that has one; levels has memory that is used again.
 * ERR_MALFORMED, ERR_NOMEM. */
ATTR_MUST_CHECK bool go_table_levels(const struct go_table *table,
    const struct go_func *func, struct go_levels *levels, struct err *err);

/* Returns the level at pc, which is inside of the function. */
int64_t go_levels_at(const struct go_levels *levels, uint64_t pc);

#endif
