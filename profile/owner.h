/* SPDX-License-Identifier: MIT */
/*
 * Whose a process is, and what it may cost the recorder. One that gives it work without end would take the processor, or the
 * memory, from the samples of all others.
 */
#ifndef PROFILE_OWNER_H
#define PROFILE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum { OWNERS = 1024 };

struct owner {
	/* It is of root or of this process's user, and has the mounts of this process: what it can open, nobody else serves. */
	bool is_own;
	uint32_t
	    user; /* its effective user, whose files are its own; without the process, this one's */
	uint32_t place; /* below OWNERS; two owners can share one, and what it may cost */
};

/* Reads it in /proc, where nothing waits for a file system. A process that is gone is nobody's own. */
struct owner owner_of(uint32_t pid);

/* Time for files and names, in ns. Zeroed. */
struct spent {
	uint64_t since; /* of the first call */
	uint64_t ns[OWNERS];
};

/* Now, in ns, for spent_add. */
uint64_t spent_now(void);
/* False if an owner has had 20 s, and a twentieth of the time since the first call. */
bool spent_may(struct spent *spent, const struct owner *owner);
/* Counts the time since start; eightfold where it was for nothing. */
void spent_add(
    struct spent *spent, const struct owner *owner, uint64_t start, bool for_nothing);

#endif
