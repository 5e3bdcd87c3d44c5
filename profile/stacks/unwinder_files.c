/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/regular.h"
#include "base/vec.h"
#include "profile/stacks/unwinder.h"

/* Memory that has a name, and can hold an ELF file as well as code that was made at run time. */
static bool unwinder_may_be_file(const char *path)
{
	return strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/dev/shm/", 9) == 0;
}

/* True for the names that the kernel gives to memory without an ELF file, such as "[heap]" and "//anon". */
static bool unwinder_is_no_file(const char *path)
{
	static const char *const BEGINNINGS[] = {
	    "//anon", "/dev/", "/SYSV", "/anon_hugepage", "/[aio]"};

	if (path[0] != '/')
		return strcmp(path, "[vdso]") != 0;
	if (unwinder_may_be_file(path))
		return false;
	for (size_t i = 0; i < sizeof(BEGINNINGS) / sizeof(*BEGINNINGS); i++)
		if (strncmp(path, BEGINNINGS[i], strlen(BEGINNINGS[i])) == 0)
			return true;
	return false;
}

/* Numbers those who share the file: one's own processes, or those of an owner. */
static uint64_t unwinder_sharer(const struct rows_file *file)
{
	return file->is_own ? 1 : file->owner.id;
}

/*
 * True if a file of a recording is at its path here. Then it is found by its inode: a recording can have any number of names and of
 * build-ids for one, and each would cost as much as the file. Processes that run have their files by other ways, too.
 */
static bool unwinder_is_here(const struct rows_file *file)
{
	return !file->live && file->was_seen;
}

/* True if what is here can be the file that was mapped. */
static bool unwinder_may_be(const struct rows_file *file)
{
	return file->build_id_size || rows_may_be(file, &file->was, false);
}

/* Hashes by what unwinder_file_is compares. */
static uint32_t unwinder_file_hash(const struct rows_file *file)
{
	/* Joined by their order, too: a path and a build-id of the same bytes would cancel each other out. */
	const uint64_t words[] = {
	    hash_bytes((const uint8_t *)file->path, strlen(file->path)),
	    hash_bytes(file->build_id, file->build_id_size), unwinder_sharer(file)};
	const uint64_t here[] = {file->was.st_dev, file->was.st_ino};

	return hash_fold(unwinder_is_here(file)
			     ? hash_bytes((const uint8_t *)here, sizeof(here))
			     : hash_bytes((const uint8_t *)words, sizeof(words)));
}

/* Lets a file be found by its hash. */
static void unwinder_file_note(struct unwinder *unwinder, uint32_t number)
{
	uint32_t hash = unwinder_file_hash(&unwinder->files[number]->mapped);
	struct slot *slot = slots_first(&unwinder->file_slots, hash);

	while (slot->number)
		slot = slots_next(&unwinder->file_slots, slot);
	*slot = (struct slot){.hash = hash, .number = number + 1};
}

static void unwinder_rows_free(struct unwinder *unwinder, struct unwinder_file *file)
{
	if (!file->rows)
		return;
	rows_drop(&unwinder->rows, file->rows);
	free(file->rows);
	file->rows = NULL;
}

static void unwinder_file_free(struct unwinder *unwinder, struct unwinder_file *file)
{
	free((char *)(uintptr_t)file->mapped.path);
	free(file->index);
	unwinder_rows_free(unwinder, file);
	free(file);
}

static uint64_t unwinder_rows_bytes(const struct unwinder *unwinder)
{
	return unwinder->rows.own + unwinder->rows.apart.all_bytes;
}

/* Forgets the files that no process maps any more. Their numbers are used again, so what is remembered by number goes. */
static bool unwinder_files_sweep(struct unwinder *unwinder)
{
	bool *mapped = calloc(unwinder->n_files, sizeof(*mapped));

	if (!mapped)
		return false;
	for (size_t i = 0; i < unwinder->spaces.n; i++) {
		const struct space_maps *maps = &unwinder->spaces.list[i].space->maps;

		for (size_t k = 0; k < maps->n; k++)
			if (space_maps_get(maps, k)->file != SPACE_NO_FILE)
				mapped[space_maps_get(maps, k)->file] = true;
	}
	memset(unwinder->file_slots.list, 0,
	    unwinder->file_slots.cap * sizeof(*unwinder->file_slots.list));
	for (uint32_t i = 0; i < unwinder->n_files; i++) {
		if (unwinder->files[i] && !mapped[i]) {
			unwinder_file_free(unwinder, unwinder->files[i]);
			unwinder->files[i] = NULL;
		}
		if (unwinder->files[i])
			unwinder_file_note(unwinder, i);
	}
	free(mapped);
	memset(unwinder->cache.entries, 0,
	    unwinder->cache.n_entries * sizeof(*unwinder->cache.entries));
	memset(unwinder->places, 0, UNWINDER_PLACES * sizeof(*unwinder->places));
	unwinder->free_file = unwinder->n_since_sweep = 0;
	unwinder->rows.is_full = false;
	unwinder->most_rows = 2 * unwinder_rows_bytes(unwinder) + UNWINDER_ROWS;
	return true;
}

/* Goes on to a number that is free. false: there is none. */
static bool unwinder_file_next(struct unwinder *unwinder)
{
	while (unwinder->free_file < unwinder->n_files &&
	       unwinder->files[unwinder->free_file])
		unwinder->free_file++;
	return unwinder->free_file < UNWINDER_MAX_FILES;
}

/* A number for a new file, or SPACE_NO_FILE. */
static bool unwinder_file_number(
    struct unwinder *unwinder, uint32_t *number, struct err *err)
{
	/* A sweep takes as long as there are mappings, and may free few. An owner's files that are mapped no more may make room for others. */
	const size_t seldom = UNWINDER_MAX_FILES / (unwinder->rows.is_full ? 1024 : 4);

	*number = SPACE_NO_FILE;
	if (((++unwinder->n_since_sweep > seldom &&
		 (unwinder->rows.is_full || !unwinder_file_next(unwinder))) ||
		unwinder_rows_bytes(unwinder) > unwinder->most_rows) &&
	    !unwinder_files_sweep(unwinder))
		return err_set_nomem(err);
	if (!unwinder_file_next(unwinder)) {
		unwinder->n_refused++;
		return true;
	}
	if (unwinder->free_file == unwinder->n_files) {
		if (!vec_reserve(
			&unwinder->files, &unwinder->cap_files, unwinder->n_files + 1))
			return err_set_nomem(err);
		unwinder->files[unwinder->n_files++] = NULL;
	}
	*number = (uint32_t)unwinder->free_file;
	return true;
}

static bool unwinder_file_add(struct unwinder *unwinder, const struct rows_file *mapped,
    bool is_many, uint32_t *index, struct err *err)
{
	struct unwinder_file *file;

	if (!unwinder_file_number(unwinder, index, err))
		return false;
	if (*index == SPACE_NO_FILE)
		return true;
	file = malloc(sizeof(*file));
	if (!file)
		return err_set_nomem(err);
	*file = (struct unwinder_file){
	    .mapped = *mapped, .is_many = is_many, .module = UINT32_MAX};
	file->mapped.path = strdup(mapped->path);
	if (!file->mapped.path) {
		free(file);
		return err_set_nomem(err);
	}
	unwinder->files[*index] = file;
	unwinder_file_note(unwinder, *index);
	return true;
}

static bool unwinder_same_build_id(const struct rows_file *a, const struct rows_file *b)
{
	return a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/* True if both are versions of one: they have one name and one build-id, or are one file here. */
static bool unwinder_file_is(const struct rows_file *a, const struct rows_file *b)
{
	if (unwinder_is_here(b))
		return a->was_seen && a->was.st_dev == b->was.st_dev &&
		       a->was.st_ino == b->was.st_ino;
	return strcmp(a->path, b->path) == 0 && unwinder_same_build_id(a, b) &&
	       unwinder_sharer(a) == unwinder_sharer(b);
}

/* True if two versions are one file, as far as that is known. */
static bool unwinder_file_same(const struct rows_file *a, const struct rows_file *b)
{
	/* Files that are not what is here are as good as one, which has no rows. */
	if (unwinder_is_here(b) && !(unwinder_may_be(a) && unwinder_may_be(b)))
		return unwinder_may_be(a) == unwinder_may_be(b);
	if (a->inode != b->inode || a->generation != b->generation)
		return false;
	if (unwinder_is_here(b))
		return unwinder_same_build_id(a, b) && regular_is_same(&a->was, &b->was);
	return a->major == b->major && a->minor == b->minor &&
	       a->was_seen == b->was_seen &&
	       (!a->was_seen || regular_is_same(&a->was, &b->was));
}

/* Finds whose a process is. One that is gone already has the owner of who made it. */
static bool unwinder_owner(
    struct unwinder *unwinder, uint32_t pid, struct owner *owner, struct err *err)
{
	struct space *space = space_get(&unwinder->spaces, pid, err);
	struct owner now;

	if (!space)
		return false;
	if (!space->owner_read && unwinder->live) {
		now = owner_of(pid);
		/* A child of root's may have become anybody's. */
		if (now.is_known || !space->owner.is_known || space->owner.is_own)
			space->owner = now;
		space->owner_read = true;
	}
	*owner = space->owner;
	return true;
}

/* The process that maps it now is more likely to be there when it is read, also after one was not. */
static void unwinder_file_mapped(
    struct unwinder *unwinder, struct unwinder_file *file, const struct rows_file *wanted)
{
	const bool is_better = wanted->owner.is_own && !file->mapped.owner.is_own;

	if (file->failed && (file->n_opened < UNWINDER_TRIES || is_better) &&
	    unwinder->live) {
		file->opened = file->failed = false;
		unwinder->n_failed--;
	}
	if (file->opened || (file->mapped.owner.is_own && !wanted->owner.is_own))
		return;
	file->mapped.owner = wanted->owner;
	file->mapped.pid = wanted->pid;
	file->mapped.start = wanted->start;
	file->mapped.end = wanted->end;
}

/* Finds a file, or the one that stands for too many versions of it; counts these. */
static bool unwinder_file_find(struct unwinder *unwinder, const struct rows_file *wanted,
    uint32_t *index, size_t *versions)
{
	const uint32_t hash = unwinder_file_hash(wanted);

	*versions = 0;
	*index = SPACE_NO_FILE;
	for (struct slot *slot = slots_first(&unwinder->file_slots, hash); slot->number;
	     slot = slots_next(&unwinder->file_slots, slot)) {
		struct unwinder_file *file = unwinder->files[slot->number - 1];

		if (slot->hash != hash || !unwinder_file_is(&file->mapped, wanted))
			continue;
		if (!file->is_many && unwinder_file_same(&file->mapped, wanted)) {
			unwinder_file_mapped(unwinder, file, wanted);
			*index = slot->number - 1;
			return true;
		}
		/* A program that writes itself again and again. */
		if (file->is_many)
			*index = slot->number - 1;
		++*versions;
	}
	return *index != SPACE_NO_FILE;
}

bool unwinder_file_get(
    struct unwinder *unwinder, const struct event *map, uint32_t *index, struct err *err)
{
	const uint64_t clock = unwinder->live ? event_clock() : unwinder->clock;
	struct rows_file wanted = {.path = map->text,
	    .pid = unwinder->live ? map->pid : 0,
	    .start = map->start,
	    .end = map->start + map->size,
	    .build_id_size = map->build_id_size,
	    .major = map->major,
	    .minor = map->minor,
	    .inode = map->inode,
	    .generation = map->generation,
	    .time = map->time && clock ? map->time + clock : unwinder->latest,
	    .live = unwinder->live,
	    .facts_only = unwinder->no_rows};
	size_t versions;

	*index = SPACE_NO_FILE;
	if (unwinder_is_no_file(map->text))
		return true;
	if (map->build_id_size)
		memcpy(wanted.build_id, map->build_id, map->build_id_size);
	if (!unwinder_owner(unwinder, map->pid, &wanted.owner, err))
		return false;
	wanted.is_own = unwinder->live && rows_is_own(&wanted);
	if (!slots_reserve(&unwinder->file_slots, unwinder->n_files + 1))
		return err_set_nomem(err);
	/* One that was not here is not looked for again: its file system can take long. */
	if (!unwinder->live && unwinder_file_find(unwinder, &wanted, index, &versions))
		return true;
	wanted.was_seen = unwinder->live
			      ? !map->build_id_size && rows_look(&wanted, &wanted.was)
			      : rows_look_here(&wanted, &wanted.was);
	return unwinder_file_find(unwinder, &wanted, index, &versions) ||
	       unwinder_file_add(unwinder, &wanted,
		   versions >= (unwinder_is_here(&wanted) ? UNWINDER_VERSIONS_HERE
							  : UNWINDER_VERSIONS),
		   index, err);
}

/* Opens the section at the file's made-up addresses, with its index. */
static bool unwinder_section(struct unwinder_file *file, uint32_t index, struct err *err)
{
	const struct rows *rows = file->rows;
	uint64_t base = UNWINDER_BASE(index);

	if (!rows->section || rows->facts.end > UNWINDER_IN_FILE ||
	    rows->address > UNWINDER_IN_FILE ||
	    !eh2sframe_walk_open(&file->section, rows->section, rows->size,
		base + rows->address, base, base + rows->facts.end))
		return true;
	file->index = malloc(eh2sframe_walk_index_size(&file->section));
	if (!file->index)
		return err_set_nomem(err);
	eh2sframe_walk_index_make(&file->section, file->index);
	eh2sframe_walk_open_extra(&file->section, rows->extra, rows->n_extra, base);
	return true;
}

bool unwinder_file_open(struct unwinder *unwinder, uint32_t index, struct err *err)
{
	struct unwinder_file *file = unwinder->files[index];
	struct rows_file *mapped = &file->mapped;
	struct err why = {.kind = ERR_LIMIT};
	struct rows *rows;

	if (file->opened)
		return true;
	/* Most files are mapped and never seen in a sample. */
	rows = calloc(1, sizeof(*rows));
	if (!rows)
		return err_set_nomem(err);
	unwinder_rows_free(unwinder, file);
	file->rows = rows;
	file->opened = true;
	file->n_opened++;
	if (strcmp(mapped->path, "[vdso]") == 0) {
		mapped->image = unwinder->vdso;
		mapped->image_size = unwinder->vdso_size;
	}
	if (file->is_many || !rows_make(&unwinder->rows, mapped, file->rows, &why)) {
		if (why.kind == ERR_NOMEM)
			return err_set_nomem(err);
		/* Then it is code that was made at run time. Only ELF files have build-ids. */
		file->no_file = unwinder_may_be_file(mapped->path) &&
				!mapped->build_id_size && file->rows->facts.n_parts == 0;
		if (file->no_file)
			return true;
		/* Its tables may be right where its CFI is not. */
		file->failed = file->rows->facts.n_parts == 0;
		unwinder->n_failed++;
	}
	return unwinder_section(file, index, err);
}

void unwinder_files_free(struct unwinder *unwinder)
{
	for (size_t i = 0; i < unwinder->n_files; i++)
		if (unwinder->files[i])
			unwinder_file_free(unwinder, unwinder->files[i]);
	free(unwinder->files);
	free(unwinder->file_slots.list);
}
