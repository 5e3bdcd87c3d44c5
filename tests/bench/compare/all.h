/* SPDX-License-Identifier: MIT */
/* All formats of one file while they are made; formats_compare and tests use it. */
#ifndef TESTS_BENCH_COMPARE_ALL_H
#define TESTS_BENCH_COMPARE_ALL_H

#include "tests/bench/compare/frame_pointer.h"
#include "tests/bench/compare/rows.h"
#include "tests/bench/compare/unwind.h"

/* Does not move: its members refer to each other. */
struct formats_compare {
	const struct formats_input *input; /* borrowed */
	struct formats_rows rows;
	struct cfi_augment *augments; /* owned; by CIE */
	bool has_unwind;	      /* the machine has compact unwind */
	struct formats_unwind unwind;
	struct formats_result frame_pointers;
	struct formats_results *results; /* borrowed */
	/* Code without rows: */
	enum formats_reason lost;
	uint64_t lost_bytes;
};

/* False when memory runs out; formats_compare_deinit is due all the same. */
ATTR_MUST_CHECK bool formats_compare_begin(
    struct formats_compare *compare, const struct formats_input *input);
/* Adds the ranges [first, last), which are those of one FDE; in ascending order. */
ATTR_MUST_CHECK bool formats_compare_fde(
    struct formats_compare *compare, size_t first, size_t last);
/* Encodes. */
ATTR_MUST_CHECK bool formats_compare_end(struct formats_compare *compare);
void formats_compare_deinit(struct formats_compare *compare);

#endif
