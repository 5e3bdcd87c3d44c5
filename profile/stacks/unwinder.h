/* SPDX-License-Identifier: MIT */
/*
 * From records of the kernel to samples of a profile: follows the processes, gets the rows of
 * the files that they map when a stack needs them, and walks copies of stacks.
 */
#ifndef PROFILE_STACKS_UNWINDER_H
#define PROFILE_STACKS_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/hash_slots.h"
#include "include/eh2sframe-walk.h"
#include "profile/profile.h"
#include "profile/perfdata/event.h"
#include "profile/perfdata/write.h"
#include "profile/stacks/file_rows.h"
#include "profile/stacks/space.h"

enum { UNWINDER_MAX_FRAMES = 4096, UNWINDER_MAX_KERNEL = 256 };

struct unwinder {
	enum profile_machine machine;
	bool guess; /* follow frame pointers where there are no rows */
	/* The processes run on this system; else their numbers say nothing. */
	bool live;
	bool no_rows; /* stacks are walked already */
	/* A recording's perfdata.clock, and when its mappings were there at the latest, in ns since 1970. */
	uint64_t clock, latest;
	struct rows_made rows;
	struct spaces spaces;
	const uint8_t *vdso; /* of this system; borrowed */
	size_t vdso_size;
	/* Counts of the work. */
	uint64_t n_samples;
	struct profile_ends ends;
	uint64_t n_lost;
	/* Files without rows for another reason than that they have no CFI. */
	size_t n_failed;
	/* The rest is the unwinder's own. */
	struct unwinder_file **files; /* NULL: the number is free */
	size_t n_files, cap_files;
	size_t free_file;     /* from here on numbers of files can be free */
	size_t n_since_sweep; /* numbers that were asked for */
	uint64_t most_rows;   /* bytes of them before the next one */
	uint64_t n_refused;   /* files that were too many */
	struct slots file_slots;
	struct eh2sframe_walk_cache cache;
	struct unwinder_place *places;
	/* The stack that was walked last. */
	uint64_t pcs[UNWINDER_MAX_FRAMES];
	uint8_t flags[UNWINDER_MAX_FRAMES];
};

/* Begins. ERR_NOMEM. */
ATTR_MUST_CHECK bool unwinder_begin(
    struct unwinder *unwinder, enum profile_machine machine, struct err *err);
void unwinder_free(struct unwinder *unwinder);

/* Takes in one record that is no sample. ERR_NOMEM. */
ATTR_MUST_CHECK bool unwinder_take(
    struct unwinder *unwinder, const struct event *event, struct err *err);
/* The vDSO is a part of the kernel, and its file is nowhere: takes that of this process. */
void unwinder_vdso(struct unwinder *unwinder);

/* Describes a machine. */
struct unwinder_machine {
	const char *name; /* as uname -m has it */
	uint64_t
	    registers; /* of a sample, a bit for each by perf's number: for perf_event_open */
	/* How many of them DWARF has, perf's number of the PC, and which of DWARF's are SP, FP and RA; RA 0: none. */
	uint8_t n, pc, sp, fp, ra;
};
extern const struct unwinder_machine unwinder_machines[PROFILE_N_MACHINES];
/* This machine where name is "", or one that uname -m names so. 0: stacks cannot be walked on it. */
enum profile_machine unwinder_machine(const char *name);

/*
 * Walks the stack of a sample in a process; space may be NULL. The frames stay until the next
 * walk. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool unwinder_walk(struct unwinder *unwinder, struct space *space,
    const struct event *event, struct perfdata_walked *walked, struct err *err);

/* A mapped file. */
struct unwinder_file {
	struct rows_file mapped; /* its path is owned */
	bool opened;		 /* what follows is known */
	bool is_many; /* stands for too many files of one path, and has no rows */
	bool no_file; /* memory without a file, or of one that is only shared memory */
	bool failed;
	uint8_t n_opened;
	uint32_t module;   /* the caller's; UINT32_MAX: none yet */
	struct rows *rows; /* owned */
	uint32_t *index;   /* of the section; NULL: it has none */
	struct eh2sframe_walk_section section;
};

/* unwinder_files.c: the file of a mapping: finds or adds it. SPACE_NO_FILE: memory without one, or too many. */
ATTR_MUST_CHECK bool unwinder_file_get(
    struct unwinder *unwinder, const struct event *map, uint32_t *index, struct err *err);
/* Opens it, once. */
ATTR_MUST_CHECK bool unwinder_file_open(
    struct unwinder *unwinder, uint32_t index, struct err *err);
void unwinder_files_free(struct unwinder *unwinder);

/*
 * Files are walked at made-up addresses, each file at its own, so that the rules of one file are in the
 * cache once for all processes.
 */
#define UNWINDER_BASE(file) (UINT64_C(1) << 62 | (uint64_t)(file) << 40)
#define UNWINDER_IN_FILE ((UINT64_C(1) << 40) - 1)
/* Limits of mapped files: those that are kept, versions of one path, and build-ids and states of one file that is here. */
enum { UNWINDER_MAX_FILES = 1 << 18, UNWINDER_VERSIONS = 64, UNWINDER_VERSIONS_HERE = 8 };
/* Rows of files that no process maps are forgotten when all take this, and twice what those of mapped files took, in bytes. */
enum { UNWINDER_ROWS = 32 << 20 };
/* How often a file is opened that was not there for the process that was asked, or for which its owner had no time. */
enum { UNWINDER_TRIES = 4 };

/* A PC that was seen before: unwinder_walk.c. */
struct unwinder_place {
	uint64_t pc;
	uint64_t key;	  /* of process, and if the PC is exact; 0: free */
	uint64_t known;	  /* the made-up address; pc when it is in no file */
	uint64_t address; /* in the file, where it is known; else the offset */
	uint32_t frame;	  /* the caller's; UINT32_MAX: none yet */
	uint32_t file;	  /* or SPACE_NO_FILE */
};
enum { UNWINDER_PLACES = 1 << 16, UNWINDER_RULES = 1 << 16 };

/* The place of a frame of a program. */
ATTR_MUST_CHECK bool unwinder_place_find(struct unwinder *unwinder, struct space *space,
    uint64_t pc, bool exact, struct unwinder_place **found, struct err *err);

#endif
