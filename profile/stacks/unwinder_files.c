/* SPDX-License-Identifier: MIT */
#include <stdio.h>
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

/* What the kernel gives as the path of memory that no ELF file is behind. */
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

static uint32_t unwinder_file_hash(
    const char *path, const uint8_t *build_id, uint32_t build_id_size)
{
	/* Joined by their order, too: a path and a build-id of the same bytes would cancel each other out. */
	const uint64_t words[] = {hash_bytes((const uint8_t *)path, strlen(path)),
	    hash_bytes(build_id, build_id_size)};

	return hash_fold(hash_bytes((const uint8_t *)words, sizeof(words)));
}

static void unwinder_file_free(struct unwinder_file *file)
{
	free(file->path);
	free(file->index);
	if (file->rows)
		rows_free(file->rows);
	free(file->rows);
	free(file);
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
		struct unwinder_file *file = unwinder->files[i];
		struct slot *slot;
		uint32_t hash;

		if (file && !mapped[i]) {
			unwinder_file_free(file);
			unwinder->files[i] = file = NULL;
		}
		if (!file)
			continue;
		hash =
		    unwinder_file_hash(file->path, file->build_id, file->build_id_size);
		slot = slots_first(&unwinder->file_slots, hash);
		while (slot->number)
			slot = slots_next(&unwinder->file_slots, slot);
		*slot = (struct slot){.hash = hash, .number = i + 1};
	}
	free(mapped);
	memset(unwinder->cache.entries, 0,
	    unwinder->cache.n_entries * sizeof(*unwinder->cache.entries));
	memset(unwinder->places, 0, UNWINDER_PLACES * sizeof(*unwinder->places));
	unwinder->free_file = unwinder->n_since_sweep = 0;
	return true;
}

/* A number for a new file, or SPACE_NO_FILE. */
static bool unwinder_file_number(
    struct unwinder *unwinder, uint32_t *number, struct err *err)
{
	*number = (uint32_t)unwinder->n_files;
	unwinder->n_since_sweep++;
	if (unwinder->n_files < UNWINDER_MAX_FILES) {
		if (!vec_reserve(
			&unwinder->files, &unwinder->cap_files, unwinder->n_files + 1))
			return err_set_nomem(err);
		unwinder->files[unwinder->n_files++] = NULL;
		return true;
	}
	for (int turn = 0; turn < 2; turn++) {
		for (; unwinder->free_file < unwinder->n_files; unwinder->free_file++)
			if (!unwinder->files[unwinder->free_file]) {
				*number = (uint32_t)unwinder->free_file++;
				return true;
			}
		/* It takes as long as there are mappings, and may free few. */
		if (turn == 0 && unwinder->n_since_sweep >= UNWINDER_MAX_FILES / 4 &&
		    !unwinder_files_sweep(unwinder))
			return err_set_nomem(err);
	}
	unwinder->n_refused++;
	*number = SPACE_NO_FILE;
	return true;
}

static bool unwinder_file_add(struct unwinder *unwinder, const struct event *map,
    uint32_t hash, const struct stat *was, bool is_many, uint32_t *index, struct err *err)
{
	struct unwinder_file *file;
	struct slot *slot;

	if (!unwinder_file_number(unwinder, index, err) || *index == SPACE_NO_FILE)
		return *index == SPACE_NO_FILE;
	file = calloc(1, sizeof(*file));
	if (file)
		file->path = strdup(map->text);
	if (!file || !file->path) {
		free(file);
		return err_set_nomem(err);
	}
	file->pid = map->pid;
	file->start = map->start;
	file->end = map->start + map->size;
	file->was_seen = was != NULL;
	if (was)
		file->was = *was;
	file->major = map->major;
	file->minor = map->minor;
	file->inode = map->inode;
	file->build_id_size = map->build_id_size;
	if (map->build_id_size)
		memcpy(file->build_id, map->build_id, map->build_id_size);
	file->module = UINT32_MAX;
	file->is_many = is_many;
	unwinder->files[*index] = file;
	slot = slots_first(&unwinder->file_slots, hash);
	while (slot->number)
		slot = slots_next(&unwinder->file_slots, slot);
	*slot = (struct slot){.hash = hash, .number = *index + 1};
	return true;
}

/* True if a file is that of a mapping, by name and build-id. */
static bool unwinder_file_is(const struct unwinder_file *file, const struct event *map)
{
	return strcmp(file->path, map->text) == 0 &&
	       file->build_id_size == map->build_id_size &&
	       (!map->build_id_size ||
		   memcmp(file->build_id, map->build_id, map->build_id_size) == 0);
}

bool unwinder_file_get(
    struct unwinder *unwinder, const struct event *map, uint32_t *index, struct err *err)
{
	uint32_t hash, many = SPACE_NO_FILE;
	size_t versions = 0;
	struct rows_file look;
	struct stat st;
	bool seen;
	struct unwinder_file *file;
	struct slot *slot;

	*index = SPACE_NO_FILE;
	if (unwinder_is_no_file(map->text))
		return true;
	hash = unwinder_file_hash(map->text, map->build_id, map->build_id_size);
	look = (struct rows_file){.path = map->text,
	    .pid = map->pid,
	    .major = map->major,
	    .minor = map->minor,
	    .inode = map->inode};
	seen = unwinder->live && !map->build_id_size && rows_look(&look, &st);
	if (!slots_reserve(&unwinder->file_slots, unwinder->n_files + 1))
		return err_set_nomem(err);
	for (slot = slots_first(&unwinder->file_slots, hash); slot->number;
	     slot = slots_next(&unwinder->file_slots, slot)) {
		file = unwinder->files[slot->number - 1];
		if (slot->hash != hash || !unwinder_file_is(file, map))
			continue;
		if (file->is_many)
			many = slot->number - 1;
		if (file->is_many || file->inode != map->inode ||
		    file->major != map->major || file->minor != map->minor ||
		    (seen && file->was_seen && !regular_is_same(&file->was, &st))) {
			versions++;
			continue;
		}
		/* The process that maps it now is more likely to be there when it is read. */
		if (!file->opened) {
			file->pid = map->pid;
			file->start = map->start;
			file->end = map->start + map->size;
		}
		*index = slot->number - 1;
		return true;
	}
	/* A program that writes itself again and again. */
	*index = many;
	return many != SPACE_NO_FILE ||
	       unwinder_file_add(unwinder, map, hash, seen ? &st : NULL,
		   versions >= UNWINDER_VERSIONS, index, err);
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
	file->has_section = true;
	return true;
}

bool unwinder_file_open(struct unwinder *unwinder, uint32_t index, struct err *err)
{
	struct unwinder_file *file = unwinder->files[index];
	struct rows_file wanted = {.path = file->path,
	    .pid = unwinder->live ? file->pid : 0,
	    .start = file->start,
	    .end = file->end,
	    .build_id = file->build_id,
	    .build_id_size = file->build_id_size,
	    .major = file->major,
	    .minor = file->minor,
	    .inode = file->inode,
	    .live = unwinder->live,
	    .facts_only = unwinder->no_rows,
	    .was = file->was_seen ? &file->was : NULL};
	struct err why = {.kind = ERR_LIMIT};

	if (file->opened)
		return true;
	/* Most files are mapped and never seen in a sample. */
	file->rows = calloc(1, sizeof(*file->rows));
	if (!file->rows)
		return err_set_nomem(err);
	file->opened = true;
	if (file->no_file)
		return true;
	if (strcmp(file->path, "[vdso]") == 0) {
		wanted.image = unwinder->vdso;
		wanted.image_size = unwinder->vdso_size;
	}
	if (file->is_many || !rows_make(&unwinder->rows, &wanted, file->rows, &why)) {
		if (why.kind == ERR_NOMEM)
			return err_set_nomem(err);
		/* Then it is code that was made at run time. Only ELF files have build-ids. */
		file->no_file = unwinder_may_be_file(file->path) &&
				!file->build_id_size && file->rows->facts.n_parts == 0;
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
			unwinder_file_free(unwinder->files[i]);
	free(unwinder->files);
	free(unwinder->file_slots.list);
}
