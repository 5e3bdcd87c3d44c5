/* SPDX-License-Identifier: MIT */
/*
 * Where exceptions continue: the call-site table of a function's language-specific data (Itanium
 * C++ ABI, "Exception Handling Tables"), which C++, Rust, Ada, D and GCC's C share.
 */
#ifndef GEN_CHECK_LANDING_H
#define GEN_CHECK_LANDING_H

#include "code/paths.h"
#include "gen/rows/cfi_input.h"

struct validate_landings {
	struct code_landing *list; /* owned; ascending by start */
	size_t n, cap;
};

/* Adds those of one FDE. Damaged tables end where they are damaged. False: out of memory. */
ATTR_MUST_CHECK bool validate_landings_add(const struct image *image,
    const struct cfi_input *input, const struct cfi_fde *fde,
    struct validate_landings *landings);

#endif
