/* SPDX-License-Identifier: MIT */
/*
 * The tables of this process. Writers (refresh, add, remove) take turns by a lock, change a
 * draft and publish it. Walks read the published table without a lock, between walk_enter and
 * walk_leave; a table is drafted again only after every walk that could read it has left.
 */
#ifndef WALK_PROCESS_H
#define WALK_PROCESS_H

#include "include/eh2sframe-walk.h"

/* Code and its rows. NULL: its file is known, and has none. */
struct walk_range {
	uint64_t start, end;
	struct eh2sframe_walk_section *section;
	bool added; /* by eh2sframe_walk_add */
};

/* Ranges ascend and do not overlap. */
struct walk_table {
	size_t n;
	struct walk_range *ranges;
};

/* Walks. */

/* Returns the table, which stays valid until walk_leave. NULL before eh2sframe_walk_init. */
const struct walk_table *walk_enter(unsigned int *turn);
void walk_leave(unsigned int turn);

/* Returns the range that has pc, or NULL. */
const struct walk_range *walk_table_find(const struct walk_table *table, uint64_t pc);

/* Shared by all walks of this process. */
extern struct walk_settings {
	struct eh2sframe_walk_cache *cache; /* NULL before eh2sframe_walk_init */
	uint64_t signature_mask;
	struct eh2sframe_walk_options options;
} walk_settings __attribute__((visibility("hidden")));

/*
 * Turns a frame without a row that is the return from a signal handler into the frame that
 * was interrupted, with all its registers. false: it is none.
 */
bool walk_begin_interrupted(struct eh2sframe_walk_frame *frame, uint64_t *registers);

/* Files that dlopen has been told to keep, by the addresses of their dynamic sections. */
struct walk_kept {
	uint64_t *dynamic; /* owned */
	size_t n;
};

/*
 * Tells the loader to keep each file that it has. The caller does not hold the lock: dlopen waits for a
 * thread that runs a constructor, which may wait for the lock.
 */
void walk_modules_keep(struct walk_kept *kept);

/* For writers, which hold the lock. */

/* Returns memory that is never freed; NULL when too little is left. */
void *walk_memory(size_t size, size_t align);
/* Gives back what the last call of walk_memory returned. */
void walk_memory_undo(void *memory);

/* Adds a range to the draft. false: the table is full, or the range overlaps another. */
bool walk_table_insert(struct walk_table *draft, const struct walk_range *range);
/* True if there is room for n more ranges. */
bool walk_table_has_room(const struct walk_table *draft, size_t n);

/* Adds the files that are mapped and stay so to the draft. Returns how many files have rows,
 * with those that dlclose can unmap. scratch is used until the function returns. */
size_t walk_modules_note(
    struct walk_table *draft, const struct walk_kept *kept, void *scratch, size_t size);

/* Files that dlclose can unmap. */

/* Finds the code of the file that has pc now, and opens code->section: GOES_ON, NO_MODULE or NO_ROW, with which the code stays empty. */
enum eh2sframe_walk_why walk_loaded_find(struct walk_range *code, uint64_t pc);

#endif
