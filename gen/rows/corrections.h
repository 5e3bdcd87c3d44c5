/* SPDX-License-Identifier: MIT */
/*
 * Rows that replace those of the CFI that the code contradicts (--code). Conversion and proof
 * apply the same corrections to the tables that they read.
 */
#ifndef GEN_ROWS_CORRECTIONS_H
#define GEN_ROWS_CORRECTIONS_H

#include "base/attr.h"
#include "cfi/row.h"

struct correction {
	uint64_t start, end; /* addresses; end is exclusive */
	struct cfi_row row;  /* doubtful: no row is known to be right */
};

struct corrections {
	struct correction *list; /* owned; ascending, disjoint */
	size_t n, cap;
};

/* How many bytes of [start, end) have a corrected row. corrections may be NULL. */
uint64_t corrections_bytes(
    const struct corrections *corrections, uint64_t start, uint64_t end);

/* True if a correction lies in [start, end). corrections may be NULL. */
bool corrections_touch(
    const struct corrections *corrections, uint64_t start, uint64_t end);

/*
 * Returns the table as corrected: table itself where nothing is, else *corrected, whose
 * rows are allocated and reused. NULL when memory runs out.
 */
const struct cfi_table *corrections_apply(const struct corrections *corrections,
    const struct cfi_table *table, struct cfi_table *corrected);

void corrections_deinit(struct corrections *corrections); /* accepts a zeroed struct */

#endif
