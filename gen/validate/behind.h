/* SPDX-License-Identifier: MIT */
/*
 * What SP is behind calls that may not return. Where the row at a call is wrong, the row behind it does not
 * tell whether the call returns. When no other way leads there, it does: then SP is as at the call,
 * and the row is not what to start from.
 */
#ifndef GEN_VALIDATE_BEHIND_H
#define GEN_VALIDATE_BEHIND_H

#include "base/attr.h"
#include "code/state.h"

/* At most so many are kept: those at the highest addresses. Code is started from upwards. */
#define VALIDATE_MAX_BEHIND 1024

struct validate_behind {
	struct validate_behind_place {
		uint64_t pc;
		struct code_value sp;
	} * list; /* ascending by pc; freed by the owner */
	size_t n, cap;
};

/* Notes a place, once. False: out of memory. */
ATTR_MUST_CHECK bool validate_behind_add(
    struct validate_behind *behind, uint64_t pc, struct code_value sp);

/* NULL: nothing is noted of pc. Valid until the next note. */
const struct code_value *validate_behind_find(
    const struct validate_behind *behind, uint64_t pc);

#endif
