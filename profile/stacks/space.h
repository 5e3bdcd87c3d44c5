/* SPDX-License-Identifier: MIT */
/*
 * The processes of a recording as its records tell of them: which files they map where, their threads
 * and the names of these.
 */
#ifndef PROFILE_STACKS_SPACE_H
#define PROFILE_STACKS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/owner.h"

/* The file of a mapping that has none. */
#define SPACE_NO_FILE UINT32_MAX

/*
 * No number of them ends a recording: a user of the system that is recorded could make as many. The recorder sees no munmap, so the
 * mappings of a process add up. No program has so many with code at once. Then those in no file are forgotten, and the older ones of
 * the others. Where all processes together have too many, it is the process with most of them that forgets. Of processes and threads
 * those go that were not seen for longest.
 */
enum { SPACE_MAX_MAPS = 1 << 14, SPACE_MAX_ALL_MAPS = 4 << 20, SPACE_MAX = 1 << 17 };

struct space_map {
	uint64_t start, end; /* start is below end */
	uint64_t offset;     /* in the file */
	uint32_t file;	     /* the caller's number */
	uint32_t added;	     /* when, by the clock of its process */
};

/*
 * The mappings of a process. They ascend and do not overlap. The room of the list is in front of the one with the number gap, where the
 * last one was added: the kernel maps downwards, and what makes code mostly upwards, so a new one moves few others.
 */
struct space_maps {
	struct space_map *list;
	size_t n, gap, cap;
};

/* A process. */
struct space {
	uint32_t pid;
	uint32_t n_threads;  /* that are known */
	uint32_t generation; /* another number after each change, and in each process */
	uint32_t used;	     /* when, by the clock of all */
	uint32_t n_added;    /* mappings of files */
	/* Tells programs that begin in it, and in processes that had its number before, apart. */
	uint32_t program;
	struct owner owner; /* its own, or that of who made it */
	bool owner_read;    /* since it began, or another program began in it */
	struct space_maps maps;
};

struct space_thread {
	uint64_t tid; /* as wide as search_list_from wants it */
	uint32_t pid;
	char comm[16];
	bool ended;	 /* seen again after its end */
	uint32_t number; /* the caller's; UINT32_MAX: none yet */
	uint32_t used;	 /* as that of its process */
};

/* How many threads that ended keep their names: the kernel samples them until the last moment. */
enum { SPACE_ENDED = 256 };

/* Spaces stay where they are while the list moves. */
struct space_entry {
	uint64_t pid;
	struct space *space;
};

/* Zeroed. Both lists ascend, by pid and by tid. */
struct spaces {
	struct space_entry *list;
	struct space_thread *threads;
	size_t n, cap, n_threads, cap_threads;
	struct space_thread ended[SPACE_ENDED]; /* in turn */
	size_t n_ended;
	size_t n_maps; /* of all */
	uint32_t generation;
	uint32_t clock;
	uint64_t n_forgotten; /* mappings, processes and threads that were too many */
};

void spaces_free(struct spaces *spaces);

/* NULL when it is not known. */
struct space *space_find(const struct spaces *spaces, uint32_t pid);
/* Finds or adds one. NULL: ERR_NOMEM. */
struct space *space_get(struct spaces *spaces, uint32_t pid, struct err *err);
/* Finds or adds a thread, and its process. NULL: ERR_NOMEM. */
struct space_thread *space_thread_get(
    struct spaces *spaces, uint32_t pid, uint32_t tid, struct err *err);

/* Notes that a process is used, and its thread if that is known. */
void space_seen(struct spaces *spaces, struct space *space, uint32_t tid);

/* A mapping by its number, which is below n. It is valid until the list changes. */
static inline struct space_map *space_maps_get(const struct space_maps *maps, size_t i)
{
	return &maps->list[i < maps->gap ? i : i + maps->cap - maps->n];
}

/* By which the name of a PC is found: programs that follow one another under a number can have different code at it. */
static inline uint64_t space_name_key(const struct space *space, uint64_t pc)
{
	return pc ^ (uint64_t)(space->program & 255) << 56;
}

/* The mapping that has pc, or NULL. */
const struct space_map *space_map_find(const struct space *space, uint64_t pc);

/* Takes in what the records say. ERR_NOMEM. */
ATTR_MUST_CHECK bool space_add_map(
    struct spaces *spaces, uint32_t pid, const struct space_map *map, struct err *err);
ATTR_MUST_CHECK bool space_fork(struct spaces *spaces, uint32_t pid, uint32_t tid,
    uint32_t parent, uint32_t parent_tid, uint64_t time, struct err *err);
ATTR_MUST_CHECK bool space_comm(struct spaces *spaces, uint32_t pid, uint32_t tid,
    const char *comm, bool exec, struct err *err);
/* A thread ends. Returns whether its process ended with it: then call space_remove. */
bool space_exit(struct spaces *spaces, uint32_t pid, uint32_t tid);
void space_remove(struct spaces *spaces, uint32_t pid);

#endif
