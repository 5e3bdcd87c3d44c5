/* SPDX-License-Identifier: MIT */
/*
 * Names that nobody can look up when the recording is over: of code that was made at run time, and of files that are
 * in a container, or deleted, or whose path leads to another one by now.
 */
#ifndef PROFILE_RECORD_NAMES_H
#define PROFILE_RECORD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_slots.h"
#include "profile/jit.h"
#include "profile/perfdata/write.h"
#include "profile/stacks/file_rows.h"
#include "profile/stacks/spent.h"

/* An address of a sample in no file. */
struct names_seen {
	uint32_t pid;
	bool is_return_address; /* then the call in front of it is looked up */
	uint64_t pc;
};

/* Zeroed. */
struct names {
	struct perfdata_writer *writer; /* borrowed */
	struct names_seen *list;
	struct jit_home *homes; /* of the processes in list */
	size_t n, cap, n_homes, cap_homes;
	struct slots noted; /* frames that came: the halves of a hash of each */
	size_t n_noted;
	struct spent spent; /* by what compilers wrote */
};

/* A frame that a walk found for the first time, or again after its process mapped something. rows: of its file, or NULL
 * for one in no file. Without memory it stays without a name. */
void names_note(struct names *names, const struct rows *rows, uint64_t address,
    const struct names_seen *seen);
/* A process has ended: writes what its own code is called. */
void names_of_process(struct names *names, uint32_t pid);
/* Writes those of all processes that are left. */
void names_end(struct names *names);
void names_free(struct names *names);

#endif
