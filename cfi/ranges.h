/* SPDX-License-Identifier: MIT */
/*
 * Finds out which FDE owns which code. In real files every byte has at most one FDE. Where two cover the same
 * byte, unwinders that search differently give different answers, so neither is taken. Where .eh_frame covers
 * a byte, what .debug_frame says of it is not asked.
 */
#ifndef CFI_RANGES_H
#define CFI_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"

/* A part of an FDE's range that is its own, or that several FDEs have. */
struct cfi_range {
	uint64_t start, end; /* addresses; end is exclusive */
	/* Index into frames->fdes; of the first owner when overlapping, though .eh_frame may
	 * have the part of an overlap in .debug_frame that this one covers. */
	uint32_t fde;
	bool overlapping;
};

/* Limit of parts into which FDEs of other sources may cut one of .debug_frame. Further
 * parts are dropped, because each costs a run of its instructions. */
#define CFI_MAX_PARTS 16

struct cfi_ranges {
	/* Ascending, disjoint; together every byte with an FDE, once. */
	struct cfi_range *list;
	size_t n, cap;
	size_t n_duplicates; /* FDEs that repeat another one word for word, and are passed
				over */
	size_t n_overlapping; /* FDEs with an overlapping part */
	uint64_t code_bytes;  /* sum of the list */
	/* Rows of .debug_frame for code that .eh_frame has in the list, to compare the two; ascending. */
	struct cfi_range *shared;
	size_t n_shared, cap_shared;
	/* 0, unless FDEs claim more code than CFI of its size can describe: then expressions may cost 1/(excess + 1) for
	 * each byte. */
	uint64_t excess;
};

/* True if the range is all of an FDE, and of no other FDE. */
static inline bool cfi_range_is_whole(
    const struct cfi_range *range, const struct cfi_fde *fde)
{
	return !range->overlapping && range->start == fde->pc &&
	       range->end - range->start == fde->range;
}

ATTR_MUST_CHECK bool cfi_ranges_read(
    const struct cfi_frames *frames, struct cfi_ranges *ranges, struct err *err);
/*
 * Splits the ranges into parts of about the same size: returns how many parts, at most
 * jobs, are worth a thread each, and the end (exclusive) of part i of n. Ranges of one
 * FDE that follow each other are in one part.
 */
size_t cfi_ranges_n_parts(const struct cfi_ranges *ranges, unsigned int jobs);
size_t cfi_ranges_part_end(const struct cfi_ranges *ranges, size_t i, size_t n);
/*
 * Returns how many operations the expressions of the FDE may run whose first range is number i. That depends
 * on the code that only this FDE has, so that the sum is linear in the file.
 */
uint64_t cfi_ranges_expr_ops(const struct cfi_ranges *ranges, size_t i);
/* As cfi_ranges_expr_ops, for an FDE of .debug_frame, by the code that it has in shared from number i on. */
uint64_t cfi_ranges_shared_ops(const struct cfi_ranges *ranges, size_t i);
void cfi_ranges_deinit(struct cfi_ranges *ranges);

#endif
