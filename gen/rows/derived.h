/* SPDX-License-Identifier: MIT */
/*
 * Rows that are concluded from the code where no CFI describes it (--derive). Conversion and proof use
 * the same list.
 */
#ifndef GEN_ROWS_DERIVED_H
#define GEN_ROWS_DERIVED_H

#include "base/attr.h"
#include "cfi/row.h"
#include "gen/rows/target.h"
#include "sframe/model.h"

struct derived_row {
	uint64_t start, end; /* addresses; end is exclusive */
	struct cfi_row row;
};

struct derived {
	struct derived_row *list; /* owned; ascending and disjoint once sorted */
	size_t n, cap;
};

/* Adds a row, or extends the last one if the same row goes on. False when memory runs out. */
ATTR_MUST_CHECK bool derived_add(
    struct derived *derived, uint64_t start, uint64_t end, const struct cfi_row *row);
void derived_deinit(struct derived *derived); /* accepts a zeroed struct */

/*
 * Appends functions with the rows that the target can express: one for each stretch without a hole.
 * bytes gets the bytes of code that they describe. derived may be NULL. False when memory runs out.
 */
ATTR_MUST_CHECK bool derived_reduce(const struct derived *derived,
    const struct target *target, struct sf_section *section, uint64_t *bytes);

#endif
