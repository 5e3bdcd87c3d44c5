/* SPDX-License-Identifier: MIT */
/* The files /tmp/perf-PID.map: a JIT engine writes a line for each function that it makes. */
#ifndef PROFILE_STACKS_JIT_H
#define PROFILE_STACKS_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct jit_name {
	uint64_t start, end;
	size_t line;	  /* a later line replaces an earlier one */
	const char *name; /* in text */
};

struct jit_names {
	char *text;
	struct jit_name *list; /* ascends by start, then by line */
	size_t n;
};

/* Reads the file of a process, as the process sees it when it is still there. false: there is
 * none. */
ATTR_MUST_CHECK bool jit_read(struct jit_names *names, uint32_t pid);
/* Takes text over, which ends with NUL; for tests. */
ATTR_MUST_CHECK bool jit_parse(struct jit_names *names, char *text);
void jit_free(struct jit_names *names); /* accepts a zeroed one */

/* The function that has an address, or NULL. */
const char *jit_find(const struct jit_names *names, uint64_t address);

#endif
