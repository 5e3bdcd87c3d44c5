/* SPDX-License-Identifier: MIT */
/* What is known of functions that are called, and of memory that is read. */
#ifndef GEN_VALIDATE_CALLEES_H
#define GEN_VALIDATE_CALLEES_H

#include "base/attr.h"
#include "code/insn.h"
#include "gen/rows/cfi_input.h"

/* Whether nothing writes to what is at addr once the program runs. */
bool validate_is_constant(const struct image *image, uint64_t addr);

/* The functions that never return by their names: the C library's, the C++ runtime's. */
struct validate_callees {
	const struct image *image;
	enum code_machine machine;
	uint64_t *
	    addrs; /* of such functions, and of places that the loader fills with theirs */
	size_t n, cap; /* ascending; owned */
};

/* False: out of memory. */
ATTR_MUST_CHECK bool validate_callees_read(const struct image *image,
    const struct cfi_input *input, struct validate_callees *callees);
void validate_callees_deinit(struct validate_callees *callees);

/*
 * Whether the call cannot return: its callee is one of them, or a function of the file whose ways
 * all end in such a call. Decodes at most *budget instructions, which it lowers.
 */
bool validate_never_returns(const struct validate_callees *callees,
    const struct code_insn *call, uint64_t *budget);

#endif
