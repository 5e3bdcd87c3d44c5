/* SPDX-License-Identifier: MIT */
/*
 * Damage to an ELF file as text that a person can read and a ledger can keep:
 *
 *     set shdr:.eh_frame+0x20 8 0xffffffff; cut 0x1234
 *
 * Places are named by what stands there, so that a line means the same when another
 * compiler built the file.
 */
#ifndef TESTS_FUZZ_EDIT_H
#define TESTS_FUZZ_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/wr.h"

enum { EDIT_MAX = 8, EDIT_NAME = 48, EDIT_TEXT = 1024, EDIT_REGIONS = 192 };

/* A named part of a file. */
struct region {
	char name[EDIT_NAME]; /* "ehdr", "phdr:3", "shdr:.text", ".text", "file" */
	size_t off, size;
	unsigned int weight; /* how often it is picked, relative to the others */
};

struct map {
	struct region list[EDIT_REGIONS];
	size_t n;
	unsigned int weights; /* sum */
};

enum edit_kind {
	EDIT_SET,  /* "set PLACE WIDTH VALUE": little-endian */
	EDIT_COPY, /* "copy FROM TO LENGTH" */
	EDIT_FILL, /* "fill PLACE LENGTH VALUE" */
	EDIT_CUT,  /* "cut SIZE": what lies behind goes */
	EDIT_GROW, /* "grow COUNT VALUE": bytes behind the end */
	EDIT_BARE, /* "bare": the ELF header names no section headers */
};

struct edit {
	enum edit_kind kind;
	const struct region *region, *to; /* borrowed from the map; NULL where not used */
	size_t off, to_off;		  /* from the regions' starts */
	uint64_t value;			  /* of set, fill and grow */
	size_t n;			  /* width, length, count or size */
};

/* The parts of an ELF64 file that are inside it; "file" alone when it is not one. */
void map_read(const uint8_t *data, size_t size, struct map *map);

/* A sequence of damage that depends on the state alone; *state moves on. Returns its
 * length. */
size_t edit_random(const struct map *map, const uint8_t *data, size_t size,
    uint64_t *state, struct edit edits[EDIT_MAX]);

/* bytes holds the file; what does not lie inside is passed over. */
void edit_apply(const struct edit *edit, struct wr *bytes);

/* One line, without a newline, of at most EDIT_TEXT bytes. */
void edit_print(const struct edit *edits, size_t n, char *text);

/* The reverse; false when the text is no damage for this map. */
ATTR_MUST_CHECK bool edit_parse(
    const struct map *map, const char *text, struct edit edits[EDIT_MAX], size_t *n);

#endif
