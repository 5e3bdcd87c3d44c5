/* SPDX-License-Identifier: MIT */
/* Executable bytes of a linked file that no FDE describes, and that are no PLT. */
#ifndef GEN_CHECK_DERIVE_GAPS_H
#define GEN_CHECK_DERIVE_GAPS_H

#include "base/attr.h"
#include "gen/rows/cfi_input.h"

struct derive_gap {
	uint64_t start, end;  /* addresses; end is exclusive */
	const uint8_t *bytes; /* borrowed from the image */
};

struct derive_gaps {
	struct derive_gap *list; /* owned; ascending, disjoint */
	size_t n, cap;
};

/* False: out of memory. */
ATTR_MUST_CHECK bool derive_gaps_read(
    const struct image *image, const struct cfi_input *input, struct derive_gaps *gaps);
void derive_gaps_deinit(struct derive_gaps *gaps); /* accepts a zeroed struct */

/* The gap that addr is in; NULL: none. */
const struct derive_gap *derive_gap_at(const struct derive_gaps *gaps, uint64_t addr);

#endif
