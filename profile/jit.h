/* SPDX-License-Identifier: MIT */
/* The files /tmp/perf-PID.map: a JIT engine writes a line for each function that it makes. */
#ifndef PROFILE_JIT_H
#define PROFILE_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/sandbox/apart.h"

struct jit_name {
	uint64_t address;
	const char
	    *name;   /* of the function that has the address, in the text; NULL: none */
	size_t next; /* of the list, where to look on behind one with a name */
};

/* Where a process writes its file. It is noted while the process runs: a container is gone with its last process. */
struct jit_home {
	uint32_t pid, inner; /* the second in the container */
	int tmp;	     /* its folder /tmp; -1: not known */
	uint32_t user;	     /* of the process; of this one, where that is gone */
};
/* Waits for nobody. user: whose files in its /tmp are its own. */
void jit_home_open(struct jit_home *home, uint32_t pid, uint32_t user);
void jit_home_close(struct jit_home *home);

/*
 * Opens the file of a process, if its user or root has written it; -1: there is none. It can wait for ever where the process's folder is
 * on a file system that a user serves.
 */
ATTR_MUST_CHECK int jit_open(const struct jit_home *home);
/* Finds the names of n addresses, which ascend and have none yet, in a text, which it changes. A later line replaces an earlier one. */
void jit_find(struct jit_name *list, size_t n, char *text);

/*
 * Asks a process apart (base/sandbox/apart.h), because the file can be of any size, and its file system can let it wait for ever. The
 * answer has a name for each address, in their order, for jit_text. End with apart_free. The errors of apart_run.
 */
ATTR_MUST_CHECK bool jit_ask(const struct jit_home *home, const uint64_t *addresses,
    size_t n, struct apart_answer *answer, struct err *err);
/* The next name of an answer, from its byte at `at` on; NULL where there is none. */
const char *jit_text(const struct apart_answer *answer, size_t *at);

#endif
