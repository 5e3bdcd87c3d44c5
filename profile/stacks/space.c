/* SPDX-License-Identifier: MIT */
#include "profile/stacks/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

/* Mappings in no file count as older than all others. */
#define SPACE_OLDER (UINT32_C(1) << 31)

static void space_maps_free(struct space_maps *maps)
{
	free(maps->list);
	*maps = (struct space_maps){0};
}

/* The number of the first mapping that ends above address. */
static size_t space_maps_from(const struct space_maps *maps, uint64_t address)
{
	const struct space_map *behind = maps->list + (maps->cap - maps->n + maps->gap);

	if (maps->gap > 0 && maps->list[maps->gap - 1].end > address)
		return search_list_above(maps->list, maps->gap, end, address);
	return maps->gap + search_list_above(behind, maps->n - maps->gap, end, address);
}

static void space_maps_move_gap(struct space_maps *maps, size_t to)
{
	struct space_map *behind = maps->list + (maps->cap - maps->n);

	if (to < maps->gap)
		memmove(
		    behind + to, maps->list + to, (maps->gap - to) * sizeof(*maps->list));
	else if (to > maps->gap)
		memmove(maps->list + maps->gap, behind + maps->gap,
		    (to - maps->gap) * sizeof(*maps->list));
	maps->gap = to;
}

static bool space_maps_insert(
    struct space_maps *maps, size_t at, const struct space_map *map)
{
	if (maps->n == maps->cap) {
		space_maps_move_gap(maps, maps->n);
		if (!vec_reserve(&maps->list, &maps->cap, maps->n + 1))
			return false;
	}
	space_maps_move_gap(maps, at);
	maps->list[maps->gap++] = *map;
	maps->n++;
	return true;
}

static void space_map_start_at(struct space_map *map, uint64_t start)
{
	map->offset += start - map->start;
	map->start = start;
}

/* Adds a mapping. It takes the place of what it covers of others, of which one can be cut in two. */
static bool space_maps_add(struct space_maps *maps, const struct space_map *map)
{
	size_t at = space_maps_from(maps, map->start);

	if (at < maps->n && space_maps_get(maps, at)->start < map->start) {
		struct space_map *old = space_maps_get(maps, at++), rest = *old;

		old->end = map->start;
		space_map_start_at(&rest, map->end);
		if (rest.start < rest.end && !space_maps_insert(maps, at, &rest))
			return false;
	}
	space_maps_move_gap(maps, at);
	/* The first ones behind the gap become part of it. */
	while (at < maps->n && space_maps_get(maps, at)->end <= map->end)
		maps->n--;
	if (at < maps->n && space_maps_get(maps, at)->start < map->end)
		space_map_start_at(space_maps_get(maps, at), map->end);
	return space_maps_insert(maps, at, map);
}

/* Copies from to an empty list. */
static bool space_maps_copy(struct space_maps *to, const struct space_maps *from)
{
	if (!vec_reserve(&to->list, &to->cap, from->n))
		return false;
	for (size_t i = 0; i < from->n; i++)
		to->list[i] = *space_maps_get(from, i);
	to->n = to->gap = from->n;
	return true;
}

static void space_drop_maps(struct spaces *spaces, struct space *space)
{
	spaces->n_maps -= space->maps.n;
	space_maps_free(&space->maps);
	space->generation = ++spaces->generation;
}

static void space_free(struct spaces *spaces, struct space *space)
{
	space_drop_maps(spaces, space);
	free(space);
}

void spaces_free(struct spaces *spaces)
{
	for (size_t i = 0; i < spaces->n; i++)
		space_free(spaces, spaces->list[i].space);
	free(spaces->list);
	free(spaces->threads);
	*spaces = (struct spaces){0};
}

static struct space_thread *space_thread_find(const struct spaces *spaces, uint32_t tid)
{
	size_t at = search_list_from(spaces->threads, spaces->n_threads, tid, tid);

	return at < spaces->n_threads && spaces->threads[at].tid == tid
		   ? &spaces->threads[at]
		   : NULL;
}

struct space *space_find(const struct spaces *spaces, uint32_t pid)
{
	size_t at = search_list_from(spaces->list, spaces->n, pid, pid);

	return at < spaces->n && spaces->list[at].pid == pid ? spaces->list[at].space
							     : NULL;
}

/* Makes room for processes, or for threads. One that was used just now stays. */
static void spaces_forget(struct spaces *spaces)
{
	const uint32_t most = SPACE_MAX / 2;
	const bool processes = spaces->n >= SPACE_MAX,
		   threads = spaces->n_threads >= SPACE_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < spaces->n; i++)
		if (processes && spaces->clock - spaces->list[i].space->used >= most)
			space_free(spaces, spaces->list[i].space);
		else
			spaces->list[kept++] = spaces->list[i];
	spaces->n_forgotten += spaces->n - kept;
	spaces->n = kept;
	kept = 0;
	for (size_t i = 0; i < spaces->n_threads; i++) {
		const struct space_thread *thread = &spaces->threads[i];
		struct space *space = space_find(spaces, thread->pid);

		if (space && (!threads || spaces->clock - thread->used < most))
			spaces->threads[kept++] = *thread;
		else if (space)
			space->n_threads--;
	}
	spaces->n_forgotten += spaces->n_threads - kept;
	spaces->n_threads = kept;
}

struct space *space_get(struct spaces *spaces, uint32_t pid, struct err *err)
{
	struct space *space = space_find(spaces, pid);
	size_t at;

	spaces->clock++;
	if (space) {
		space->used = spaces->clock;
		return space;
	}
	if (spaces->n >= SPACE_MAX)
		spaces_forget(spaces);
	space = calloc(1, sizeof(*space));
	if (!space || !vec_reserve(&spaces->list, &spaces->cap, spaces->n + 1)) {
		free(space);
		err_set_nomem(err);
		return NULL;
	}
	space->pid = pid;
	space->used = spaces->clock;
	space->generation = ++spaces->generation;
	at = search_list_from(spaces->list, spaces->n, pid, pid);
	memmove(spaces->list + at + 1, spaces->list + at,
	    (spaces->n - at) * sizeof(*spaces->list));
	spaces->list[at] = (struct space_entry){pid, space};
	spaces->n++;
	return space;
}

/* A sample of a thread that has just ended has its name, too. The kernel takes its number away first. */
static void space_recall(const struct spaces *spaces, struct space_thread *thread)
{
	for (size_t i = 0; i < SPACE_ENDED; i++) {
		const struct space_thread *ended = &spaces->ended[i];

		if (ended->pid == thread->pid &&
		    (ended->tid == thread->tid || thread->tid == UINT32_MAX)) {
			memcpy(thread->comm, ended->comm, sizeof(thread->comm));
			thread->ended = true;
		}
	}
}

struct space_thread *space_thread_get(
    struct spaces *spaces, uint32_t pid, uint32_t tid, struct err *err)
{
	struct space *space = space_get(spaces, pid, err), *old;
	struct space_thread *thread = space_thread_find(spaces, tid);
	size_t at;

	if (!space)
		return NULL;
	if (thread && thread->pid == pid) {
		thread->used = spaces->clock;
		return thread;
	}
	space->n_threads++;
	if (thread) {
		/* A number that was used again, and its end was lost. */
		old = space_find(spaces, thread->pid);
		if (old && old->n_threads)
			old->n_threads--;
	} else {
		if (spaces->n_threads >= SPACE_MAX)
			spaces_forget(spaces);
		if (!vec_reserve(
			&spaces->threads, &spaces->cap_threads, spaces->n_threads + 1)) {
			err_set_nomem(err);
			return NULL;
		}
		at = search_list_from(spaces->threads, spaces->n_threads, tid, tid);
		thread = &spaces->threads[at];
		memmove(thread + 1, thread, (spaces->n_threads - at) * sizeof(*thread));
		spaces->n_threads++;
	}
	*thread = (struct space_thread){
	    .pid = pid, .tid = tid, .number = UINT32_MAX, .used = spaces->clock};
	space_recall(spaces, thread);
	return thread;
}

void space_seen(struct spaces *spaces, struct space *space, uint32_t tid)
{
	struct space_thread *thread = space_thread_find(spaces, tid);

	space->used = ++spaces->clock;
	if (thread && thread->pid == space->pid)
		thread->used = space->used;
}

const struct space_map *space_map_find(const struct space *space, uint64_t pc)
{
	size_t at = space_maps_from(&space->maps, pc);
	const struct space_map *map =
	    at < space->maps.n ? space_maps_get(&space->maps, at) : NULL;

	return map && pc >= map->start ? map : NULL;
}

/* Keeps those that were added last. */
static void space_forget_maps(struct spaces *spaces, struct space *space)
{
	struct space_maps *maps = &space->maps;
	const size_t before = maps->n;

	space_maps_move_gap(maps, before);
	maps->n = 0;
	/* The clock may wrap. */
	for (size_t i = 0; i < before; i++)
		if (space->n_added - maps->list[i].added < before / 4)
			maps->list[maps->n++] = maps->list[i];
	maps->gap = maps->n;
	/* Few can be in many pieces. */
	if (maps->n > before / 2)
		space_maps_free(maps);
	spaces->n_maps -= before - maps->n;
	spaces->n_forgotten += before - maps->n;
	space->generation = ++spaces->generation;
}

/*
 * Makes room for n mappings: the processes with most of them lose theirs. It looks at all processes, so it makes room for
 * many. Whoever forks often would have all this time.
 */
static void spaces_reserve_maps(struct spaces *spaces, size_t n)
{
	size_t most = 0;

	if (spaces->n_maps + n <= SPACE_MAX_ALL_MAPS)
		return;
	for (size_t i = 0; i < spaces->n; i++)
		if (spaces->list[i].space->maps.n > most)
			most = spaces->list[i].space->maps.n;
	for (; spaces->n_maps > SPACE_MAX_ALL_MAPS / 2; most /= 2)
		for (size_t i = 0;
		     i < spaces->n && spaces->n_maps > SPACE_MAX_ALL_MAPS / 2; i++) {
			struct space *space = spaces->list[i].space;

			if (space->maps.n == 0 || space->maps.n <= most / 2)
				continue;
			spaces->n_forgotten += space->maps.n;
			space_drop_maps(spaces, space);
		}
}

bool space_add_map(
    struct spaces *spaces, uint32_t pid, const struct space_map *map, struct err *err)
{
	struct space *space = space_get(spaces, pid, err);
	struct space_map added = *map;
	size_t before;

	if (!space)
		return false;
	if (map->end <= map->start)
		return true;
	if (space->maps.n >= SPACE_MAX_MAPS)
		space_forget_maps(spaces, space);
	/* One can be cut in two. */
	spaces_reserve_maps(spaces, 2);
	if (map->file == SPACE_NO_FILE)
		added.added = space->n_added - SPACE_OLDER;
	else
		added.added = ++space->n_added;
	before = space->maps.n;
	space->generation = ++spaces->generation;
	if (!space_maps_add(&space->maps, &added))
		return err_set_nomem(err);
	spaces->n_maps += space->maps.n - before;
	return true;
}

bool space_fork(struct spaces *spaces, uint32_t pid, uint32_t tid, uint32_t parent,
    uint32_t parent_tid, uint64_t time, struct err *err)
{
	struct space_thread *thread = space_thread_find(spaces, parent_tid);
	const struct space *from;
	struct space *to;
	char comm[sizeof(thread->comm)] = "";

	if (thread)
		memcpy(comm, thread->comm, sizeof(comm));
	/* The process that had this number is gone, whether its end was recorded or not. */
	if (pid != parent && pid == tid)
		space_remove(spaces, pid);
	thread = space_thread_get(spaces, pid, tid, err);
	if (!thread)
		return false;
	memcpy(thread->comm, comm, sizeof(comm));
	thread->ended = false;
	thread->number = UINT32_MAX;
	from = space_find(spaces, parent);
	if (pid == parent || !from)
		return true;
	to = space_find(spaces, pid);
	space_drop_maps(spaces, to);
	spaces_reserve_maps(spaces, from->maps.n);
	to->n_added = from->n_added;
	to->program = (uint32_t)(time >> 10);
	to->owner = from->owner;
	if (!space_maps_copy(&to->maps, &from->maps))
		return err_set_nomem(err);
	spaces->n_maps += from->maps.n;
	return true;
}

bool space_comm(struct spaces *spaces, uint32_t pid, uint32_t tid, const char *comm,
    bool exec, struct err *err)
{
	struct space_thread *thread = space_thread_get(spaces, pid, tid, err);
	struct space *space;

	if (!thread)
		return false;
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
	thread->number = UINT32_MAX;
	space = exec ? space_find(spaces, pid) : NULL;
	if (space) {
		space_drop_maps(spaces, space);
		space->program++;
		space->owner_read = false;
	}
	return true;
}

bool space_exit(struct spaces *spaces, uint32_t pid, uint32_t tid)
{
	struct space_thread *thread = space_thread_find(spaces, tid);
	struct space *space = space_find(spaces, pid);
	bool known = thread && thread->pid == pid;

	if (known) {
		spaces->ended[spaces->n_ended++ % SPACE_ENDED] = *thread;
		memmove(thread, thread + 1,
		    (size_t)(spaces->threads + --spaces->n_threads - thread) *
			sizeof(*thread));
		if (space && space->n_threads > 0)
			space->n_threads--;
	}
	/* One that was forgotten is not the last one. */
	return space && space->n_threads == 0 && (known || tid == pid);
}

void space_remove(struct spaces *spaces, uint32_t pid)
{
	size_t at = search_list_from(spaces->list, spaces->n, pid, pid), kept = 0;

	if (at >= spaces->n || spaces->list[at].pid != pid)
		return;
	if (spaces->list[at].space->n_threads > 0) {
		for (size_t i = 0; i < spaces->n_threads; i++)
			if (spaces->threads[i].pid != pid)
				spaces->threads[kept++] = spaces->threads[i];
		spaces->n_threads = kept;
	}
	space_free(spaces, spaces->list[at].space);
	spaces->n--;
	memmove(spaces->list + at, spaces->list + at + 1,
	    (spaces->n - at) * sizeof(*spaces->list));
}
