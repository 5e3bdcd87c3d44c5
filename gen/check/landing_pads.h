/* SPDX-License-Identifier: MIT */
/*
 * Landing pads, where exceptions continue: the call-site table of a function's language-specific data
 * (Itanium C++ ABI, "Exception Handling Tables"), which C++, Rust, Ada, D and GCC's C share.
 */
#ifndef GEN_CHECK_LANDING_PADS_H
#define GEN_CHECK_LANDING_PADS_H

#include "code/paths.h"
#include "gen/rows/cfi_input.h"

struct validate_landings {
	struct code_landing *list; /* owned; ascending by start */
	size_t n, cap;
};

/*
 * Adds the landing pads of the FDE that the ranges [first, last) belong to. Damaged tables end where they are damaged,
 * and so does a table with more call sites than these ranges have bytes in the file: many FDEs can name one table.
 * False: out of memory.
 */
ATTR_MUST_CHECK bool validate_landings_add(const struct image *image,
    const struct cfi_input *input, size_t first, size_t last,
    struct validate_landings *landings);
/* Returns the range behind those that follow range i and belong to its FDE. */
size_t validate_landings_last(const struct cfi_ranges *ranges, size_t i);

#endif
