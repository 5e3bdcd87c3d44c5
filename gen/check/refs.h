/* SPDX-License-Identifier: MIT */
/*
 * Addresses that code and data refer to. A table of jump targets whose index the code does not check ends at
 * the next one at the latest.
 */
#ifndef GEN_CHECK_REFS_H
#define GEN_CHECK_REFS_H

#include "base/attr.h"
#include "code/paths.h"
#include "gen/sources/input.h"

struct validate_refs {
	uint64_t *list; /* addresses; owned; ascending once sorted */
	size_t n, cap;
};

/* Adds the constant addresses inside of the file that the instruction computes, loads from or stores
 * to. False: out of memory. */
ATTR_MUST_CHECK bool validate_refs_note(struct validate_refs *refs,
    const struct image *image, const struct code_place *place);
/* Adds addr, unless it is the one before. False: out of memory. */
ATTR_MUST_CHECK bool validate_refs_add(struct validate_refs *refs, uint64_t addr);
/* Adds the addresses that dynamic relocations put into data. False: out of memory. */
ATTR_MUST_CHECK bool validate_refs_add_relative(
    struct validate_refs *refs, const struct image *image);
/* Returns the index of the first address from addr on; the list's length if there is none. */
size_t validate_refs_from(const struct validate_refs *refs, uint64_t addr);
/* True if addr is in the list. refs is sorted; NULL: no. */
bool validate_refs_have(const struct validate_refs *refs, uint64_t addr);
/* Moves all of from to refs. False: out of memory. */
ATTR_MUST_CHECK bool validate_refs_take(
    struct validate_refs *refs, struct validate_refs *from);
/* Sorts, and keeps each address once. */
void validate_refs_sort(struct validate_refs *refs);
/* Returns how many entries of width bytes there are from addr up to the next address; 0: there
 * is no next one. */
uint32_t validate_refs_entries(
    const struct validate_refs *refs, uint64_t addr, uint8_t width);
void validate_refs_deinit(struct validate_refs *refs); /* accepts a zeroed struct */

#endif
