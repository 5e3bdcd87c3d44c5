/* SPDX-License-Identifier: MIT */
/*
 * Which FDE speaks for which code. In real files every byte has at most one FDE; where
 * two claim the same byte, unwinders that search differently give different answers, so
 * nobody's is taken.
 */
#ifndef CFI_CLAIMS_H
#define CFI_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"

/* A part of an FDE's range that it alone claims, or that several claim. */
struct claim {
	uint64_t start, end; /* addresses; end is exclusive */
	uint32_t fde; /* index into frames->fdes; of the first claimant when contested */
	bool contested;
};

struct claims {
	struct claim
		*list; /* ascending, disjoint; together every byte with an FDE, once */
	size_t n, cap;
	size_t n_duplicates; /* FDEs that repeat another one word for word, and are passed
				over */
	size_t n_contested;  /* FDEs with a contested part */
	uint64_t code_bytes; /* sum of the list */
};

ATTR_MUST_CHECK bool claims_read(
	const struct cfi_frames *frames, struct claims *claims, struct err *err);
/*
 * For work on them in parts of about the same size: how many parts are worth a thread
 * each when there may be so many, and the end (exclusive) of part i of n. The claims of
 * one FDE that follow each other are in one part.
 */
size_t claims_n_parts(const struct claims *claims, unsigned int jobs);
size_t claims_part_end(const struct claims *claims, size_t i, size_t n);
void claims_deinit(struct claims *claims);

#endif
