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
#include "profile/stacks/event.h"
#include "profile/stacks/file_rows.h"
#include "profile/stacks/jit.h"
#include "profile/stacks/space.h"

/* Gives an address of the kernel its symbol and the module of the kernel that has it, such as
 * "[kernel]". name may be NULL. */
typedef void unwinder_kernel_fn(
    void *context, uint64_t address, const char **name, const char **module);

struct unwinder_file;
struct unwinder_place;

struct unwinder {
	struct profile *profile; /* borrowed */
	struct rows_made rows;
	struct spaces spaces;
	bool guess;
	bool jit;		    /* read /tmp/perf-PID.map when a process ends */
	unwinder_kernel_fn *kernel; /* or NULL */
	void *kernel_context;
	/* Gets each frame that was added without a name and has one now; or NULL. */
	bool (*named)(void *context, uint32_t frame, struct err *err);
	void *named_context;
	/* What was done. */
	uint64_t n_samples, n_whys[PROFILE_N_WHYS];
	uint64_t n_lost;
	/* Files without rows for another reason than that they have no CFI. */
	size_t n_failed;
	/* The rest is the unwinder's own. */
	struct unwinder_file **files; /* NULL: the number is free */
	size_t n_files, cap_files;
	size_t free_file;     /* from here on numbers of files can be free */
	size_t n_since_sweep; /* numbers that were asked for */
	uint64_t n_refused;   /* files that were too many */
	struct slots file_slots;
	struct eh2sframe_walk_cache cache;
	struct unwinder_place *places;
	uint32_t *frames;	/* of the stack that is walked */
	uint32_t *unknown;	/* indices of frames in no file, for jit */
	struct jit_home *homes; /* of their processes */
	size_t n_homes, cap_homes;
	size_t n_unknown, cap_unknown;
	const uint8_t *vdso; /* of this system; borrowed */
	size_t vdso_size;
};

/* Begins. profile->info.machine is set. ERR_NOMEM. */
ATTR_MUST_CHECK bool unwinder_begin(
    struct unwinder *unwinder, struct profile *profile, struct err *err);
void unwinder_free(struct unwinder *unwinder);

/* Takes in one record; a sample is added to the profile. A damaged record is left out.
 * ERR_NOMEM. */
ATTR_MUST_CHECK bool unwinder_event(
    struct unwinder *unwinder, const uint8_t *bytes, size_t size, struct err *err);
/* Names of code that was made at run time, for the processes that still run. */
ATTR_MUST_CHECK bool unwinder_end(struct unwinder *unwinder, struct err *err);

/* How many registers a sample of the machine has, and which: for perf_event_open. 0: none. */
uint64_t unwinder_register_mask(enum profile_machine machine);
/* This machine; 0 when stacks cannot be walked on it. */
uint32_t unwinder_machine(void);

/* unwinder_walk.c: walks the stack of a sample in a process. space may be NULL. */
ATTR_MUST_CHECK bool unwinder_walk(struct unwinder *unwinder, struct space *space,
    const struct event *event, uint32_t *stack, uint8_t *why, struct err *err);
/*
 * The stack is known by its PCs: event->chain has them, the first frame first, with the bits below, and
 * walk_why is why they end there.
 */
#define UNWINDER_PC_EXACT (UINT64_C(1) << 63)
#define UNWINDER_PC_GUESSED (UINT64_C(1) << 62)
ATTR_MUST_CHECK bool unwinder_walk_known(struct unwinder *unwinder, struct space *space,
    const struct event *event, enum eh2sframe_walk_why walk_why, uint32_t *stack,
    uint8_t *why, struct err *err);

/* Notes a frame in no file, for jit. */
ATTR_MUST_CHECK bool unwinder_note_unknown(
    struct unwinder *unwinder, uint32_t frame, struct err *err);
/* Adds a frame of the kernel, with its name. */
ATTR_MUST_CHECK bool unwinder_kernel_frame(struct unwinder *unwinder,
    const struct profile_frame *at, uint32_t *index, struct err *err);

/* A mapped file. */
struct unwinder_file {
	char *path;
	uint8_t build_id[EVENT_MAX_BUILD_ID];
	uint32_t build_id_size;
	/* Where no build-id does: tell the file from another one that gets its name. */
	uint32_t major, minor;
	uint64_t inode;
	bool was_seen;
	struct stat was;
	uint32_t pid;
	uint64_t start, end; /* of the first mapping */
	bool opened;	     /* what follows is known */
	bool is_many;	     /* stands for too many files of one path, and has no rows */
	bool no_file; /* memory without a file, or of one that is only shared memory */
	bool failed;
	bool has_section;
	uint32_t module;   /* of the profile */
	struct rows *rows; /* owned */
	uint32_t *index;
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
/* Of files that are mapped. */
enum { UNWINDER_MAX_FILES = 1 << 18, UNWINDER_HOMES = 128, UNWINDER_VERSIONS = 64 };

enum { UNWINDER_MAX_FRAMES = 4096, UNWINDER_MAX_KERNEL = 256 };

/* A PC that was seen before: unwinder_walk.c. */
struct unwinder_place {
	uint64_t pc;
	uint64_t key;	/* of process and flags; 0: free */
	uint64_t known; /* the made-up address; pc when it is in no file */
	uint32_t frame; /* of the profile */
	uint32_t file;	/* or SPACE_NO_FILE */
};
enum { UNWINDER_PLACES = 1 << 16, UNWINDER_RULES = 1 << 16 };

#endif
