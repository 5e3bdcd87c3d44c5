/* SPDX-License-Identifier: MIT */
/*
 * Time that the recorder spends on what users give it: their files' rows and the names of their code. One who gives it work
 * without end would take the processor from the samples of all others.
 */
#ifndef PROFILE_STACKS_SPENT_H
#define PROFILE_STACKS_SPENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SPENT_OWNERS = 1024 };

/* Zeroed. Two users can share a place, and its time then. */
struct spent {
	uint64_t since; /* ns, of the first call */
	uint64_t ns[SPENT_OWNERS];
};

/* Now, in ns, for spent_add. */
uint64_t spent_now(void);
/* False if a user has had 20 s, and a twentieth of the time since the first call. */
bool spent_may(struct spent *spent, uid_t user);
/* Counts the time since start for a user. */
void spent_add(struct spent *spent, uid_t user, uint64_t start);

#endif
