/* SPDX-License-Identifier: MIT */
/*
 * Compares what the decoders of tests/bench/compare say of every PC with the rows, which are
 * interpreted once more.
 */
#ifndef TESTS_FORMATS_ROUND_TRIP_H
#define TESTS_FORMATS_ROUND_TRIP_H

#include <stdio.h>

#include "tests/bench/compare/all.h"

struct round_trip {
	struct formats_results results;
	uint64_t pcs; /* that were compared, over all formats */
	size_t n_wrong;
};

/* Encodes and compares; each difference is a line on out, the first 20 of them. False when
 * memory runs out. */
bool round_trip(const struct formats_input *input, struct round_trip *trip, FILE *out);

#endif
