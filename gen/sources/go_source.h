/* SPDX-License-Identifier: MIT */
/* Go's table of functions in a linked file, as call frame instructions. */
#ifndef GEN_SOURCES_GO_SOURCE_H
#define GEN_SOURCES_GO_SOURCE_H

#include "gen/sources/input.h"
#include "gen/sources/go/go_cfi.h"
#include "base/names/symbols.h"

struct go_source {
	const char *section; /* borrowed; NULL without a table */
	uint64_t addr, size; /* of the table */
	uint8_t *copy; /* owned; the table with relocations applied. NULL: it has none */
	struct go_table table;
	struct go_cfi cfi;
};

/*
 * Finds the table by the name of its section or by its first bytes, and makes records of it.
 * source->section is NULL where image has none, or is for a machine without Go's rows.
 * ERR_MALFORMED, ERR_UNSUPPORTED, ERR_LIMIT, ERR_NOMEM. source is borrowed by nothing.
 */
ATTR_MUST_CHECK bool image_go_source(
    const struct image *image, struct go_source *source, struct err *err);
/* True if the file has a table. */
bool image_has_go_source(const struct image *image);
/* True if Go's compiler made code of the file, for a machine with Go's rows; also of an object, whose
 * table is not read. */
bool image_is_go(const struct image *image);
/*
 * Adds the functions of the table with their names, which are borrowed from image; none of a damaged table.
 * search: also of a table in a section with another name, which means to read all bytes that are loaded. False: out
 * of memory. The caller sorts symbols.
 */
ATTR_MUST_CHECK bool image_go_names(
    const struct image *image, bool search, struct symbols *symbols);
void image_go_source_deinit(struct go_source *source); /* accepts a zeroed struct */

#endif
