/* SPDX-License-Identifier: MIT */
/* A linked file as all formats get it. */
#ifndef TESTS_BENCH_COMPARE_FILE_H
#define TESTS_BENCH_COMPARE_FILE_H

#include "tests/bench/compare/formats.h"
#include "gen/rows/cfi_input.h"

/* Does not move: its members refer to each other. */
struct formats_file {
	struct image image;
	struct options options;
	struct cfi_input cfi;
	struct formats_input input;
};

/* On failure formats_file_close is due all the same. A linker decides what an object's tables
 * cost, so an object is ERR_UNSUPPORTED. */
ATTR_MUST_CHECK bool formats_file_open(
    struct formats_file *file, const char *path, struct err *err);
void formats_file_close(struct formats_file *file);

#endif
