/* SPDX-License-Identifier: MIT */
/* The files /tmp/perf-PID.map: a JIT engine writes a line for each function that it makes. */
#ifndef PROFILE_JIT_H
#define PROFILE_JIT_H

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

/* Where a process writes its file. It is noted while the process runs: a container is gone with its last process. */
struct jit_home {
	uint32_t pid, inner; /* the second in the container */
	int tmp;	     /* its folder /tmp; -1: not known */
	uint32_t user;	     /* of the process; of this one, where that is gone */
};
void jit_home_open(struct jit_home *home, uint32_t pid);
void jit_home_close(struct jit_home *home);

/* Reads the file of a process that its user or root has written. false: there is none. */
ATTR_MUST_CHECK bool jit_read(struct jit_names *names, const struct jit_home *home);
/* Takes text over, which ends with NUL; for tests. */
ATTR_MUST_CHECK bool jit_parse(struct jit_names *names, char *text);
void jit_free(struct jit_names *names); /* accepts a zeroed one */

/* The function that has an address, or NULL. */
const char *jit_find(const struct jit_names *names, uint64_t address);

#endif
