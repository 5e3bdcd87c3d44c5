/* SPDX-License-Identifier: MIT */
/*
 * Calls that may not return. Where the row at a call is wrong, the row behind it does not tell whether the
 * call returns. When no other way leads there, it does: then the state behind it is as the code says, and
 * the row is not what to start from.
 */
#ifndef GEN_CHECK_BEHIND_H
#define GEN_CHECK_BEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* At most so many are kept: those at the highest addresses. Code is started from upwards. */
#define VALIDATE_MAX_BEHIND 1024

struct validate_behind_place {
	uint64_t pc, call; /* addresses: what is behind the call, and the call */
};

struct validate_behind {
	struct validate_behind_place *list; /* ascending by pc; freed by the owner */
	size_t n, cap;
};

/* Notes a call, once for each place behind one. False: out of memory. */
ATTR_MUST_CHECK bool validate_behind_add(
    struct validate_behind *behind, uint64_t pc, uint64_t call);

/* The call that pc is behind. False: none is noted. */
bool validate_behind_find(
    const struct validate_behind *behind, uint64_t pc, uint64_t *call);

#endif
