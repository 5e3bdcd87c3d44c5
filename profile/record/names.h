/* SPDX-License-Identifier: MIT */
/*
 * Names that nobody can look up when the recording is over: of code that was made at run time, and of files that are
 * in a container, or deleted, or whose path leads to another one by now, or were made a moment before they ran.
 */
#ifndef PROFILE_RECORD_NAMES_H
#define PROFILE_RECORD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_slots.h"
#include "profile/jit.h"
#include "profile/owner.h"
#include "profile/perfdata/write.h"
#include "profile/stacks/file_rows.h"

/* An address of a sample in no file. */
struct names_seen {
	uint32_t pid;
	bool is_return_address; /* then the call in front of it is looked up */
	uint64_t pc, key;	/* by which it is found later */
};

/* A process that has frames in list. */
struct names_process {
	struct jit_home home;
	struct owner owner;
};

/* Zeroed. */
struct names {
	struct perfdata_writer *writer; /* borrowed */
	struct names_seen *list;
	struct names_process *processes;
	size_t n, cap, n_processes, cap_processes;
	struct slots noted; /* frames that came: the halves of a hash of each */
	size_t n_noted;
	/* Room that is taken, by all or by an owner. */
	uint64_t all, others, parts[OWNERS];
	uint64_t n_left_out; /* frames that there was no room, or no more time, for */
	struct spent spent;  /* by what compilers wrote */
};

/* A frame that a walk found for the first time, or again after its process mapped something. rows: of its file, or NULL
 * for one in no file. Without memory or room it stays without a name, and is counted. */
void names_note(struct names *names, const struct owner *owner, const struct rows *rows,
    uint64_t address, const struct names_seen *seen);
/* A process has ended: writes what its own code is called. */
void names_of_process(struct names *names, uint32_t pid);
/* Writes those of all processes that are left. */
void names_end(struct names *names);
void names_free(struct names *names);

#endif
