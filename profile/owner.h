/* SPDX-License-Identifier: MIT */
/*
 * Whose a process is, and what it may cost the recorder. One that gives it work without end would take the processor, or the
 * memory, from the samples of all others.
 */
#ifndef PROFILE_OWNER_H
#define PROFILE_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { OWNERS = 1024 };

struct owner {
	bool is_known; /* the process was there */
	bool
	    is_own; /* of root or of this process's user, with the mounts of this process */
	uint32_t
	    user; /* its effective user, whose files are its own; without the process, this one's */
	uint32_t pid; /* that was asked: one that is gone has the owner of who made it */
	uint64_t id;  /* of this owner alone: user, who made its user namespace, mounts */
	uint32_t place; /* below OWNERS; two owners can share one, and what it may cost */
};

/* Reads it in /proc, where nothing waits for a file system. A process that is gone is nobody's, unless the caller knows more. */
struct owner owner_of(uint32_t pid);
/* False if a process has other mounts than this one, as in a container; true if it is not told. */
bool owner_has_mounts(uint32_t pid);

/* A process has worked for an owner. */
struct spent_work {
	uint64_t ns; /* of its processor, and of waiting */
	bool for_nothing;
	pid_t left; /* it waits for a file system, and cannot be ended; 0: it has ended */
};

/* Time, and bytes that are kept, of all owners but one's own. Zeroed. */
struct spent {
	uint64_t since; /* of the first call */
	uint64_t ns[OWNERS], all_ns, n_owners;
	uint64_t bytes[OWNERS], all_bytes;
	pid_t left[OWNERS];
};

/* Now, in ns. */
uint64_t spent_now(void);
/*
 * False if an owner has had 20 s, and a twentieth of the time since the first call, or all owners three times and five times as much and
 * this one more than most, or if something that worked for it is left.
 */
bool spent_may(struct spent *spent, const struct owner *owner);
/* Counts work for an owner; eightfold where it was for nothing. */
void spent_add(
    struct spent *spent, const struct owner *owner, const struct spent_work *work);
/* Takes bytes for an owner. False if it has 512 MiB, or all owners have 2 GiB. */
bool spent_take(struct spent *spent, const struct owner *owner, uint64_t bytes);
void spent_give(struct spent *spent, uint32_t place, uint64_t bytes);

#endif
