/* SPDX-License-Identifier: MIT */
/* Joins the rows that entries give each byte without CFI: a row stands where they agree. */
#ifndef GEN_CHECK_DERIVE_MERGE_H
#define GEN_CHECK_DERIVE_MERGE_H

#include "gen/check/derive/walk.h"

struct derive_merge {
	const struct derive_gaps *gaps; /* borrowed */
	uint32_t *cells;		/* for each byte of the gaps */
	/* Addresses that control may come to in a state that is not known; owned. */
	uint64_t *lost;
	size_t n_lost, cap_lost;
	size_t *first; /* of each gap, the cell of its first byte */
	struct cfi_row *rows;
	size_t n_rows, cap_rows;
};

ATTR_MUST_CHECK bool derive_merge_init(
    struct derive_merge *merge, const struct derive_gaps *gaps);
void derive_merge_deinit(struct derive_merge *merge); /* accepts a zeroed struct */

/* Takes the stretches and rows of a walker. False: out of memory. */
ATTR_MUST_CHECK bool derive_merge_take(
    struct derive_merge *merge, struct derive_walker *walker);
/* Doubts code that may be reached from where nobody followed control. False: out of memory. */
ATTR_MUST_CHECK bool derive_merge_lost(struct derive_merge *merge,
    const struct derive_entries *entries, enum code_machine machine);
/* Appends the rows on which all agree, ascending. False: out of memory. */
ATTR_MUST_CHECK bool derive_merge_rows(
    const struct derive_merge *merge, struct derived *rows);

#endif
