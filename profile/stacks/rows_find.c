/* SPDX-License-Identifier: MIT */
/* Which file a process has mapped: of a name it may be another one by now, and of a container it may be elsewhere. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/regular.h"
#include "include/eh2sframe.h"
#include "profile/stacks/file_rows.h"
#include "profile/symbols/naming_debug.h"

enum { ROWS_PATH_SIZE = 4096 + 64 };

static void facts_read(const struct eh2sframe_file *file, struct facts *facts)
{
	struct eh2sframe_info info = {.struct_size = sizeof(info)};
	struct eh2sframe_segment at = {.struct_size = sizeof(at)};

	*facts = (struct facts){0};
	if (!eh2sframe_file_info(file, &info))
		return;
	facts->entry = info.entry;
	if (info.build_id && info.build_id_size <= PROFILE_BUILD_ID_MAX) {
		facts->build_id_size = (uint32_t)info.build_id_size;
		memcpy(facts->build_id, info.build_id, info.build_id_size);
	}
	for (size_t i = 0; eh2sframe_file_segment(file, i, &at); i++) {
		if (at.type != PT_LOAD || at.memory_size > UINT64_MAX - at.address)
			continue;
		if (at.address + at.memory_size > facts->end)
			facts->end = at.address + at.memory_size;
		if (at.flags & PF_X && facts->n_parts < FACTS_MAX_PARTS)
			facts->parts[facts->n_parts++] =
			    (struct facts_part){.offset = at.offset,
				.size = at.file_size,
				.address = at.address};
	}
}

/* Reads an ELF file of a descriptor, or of memory where it has an image. ERR_UNSUPPORTED when it is none with rows; ERR_NOMEM. */
static struct eh2sframe_file *rows_open(
    int fd, const struct rows_file *file, struct facts *facts, struct err *err)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error why = {.status = EH2SFRAME_NO_MEMORY};
	struct eh2sframe_file *opened = NULL;

	/* A section of this version reaches all code, although it is not in the file. */
	if (options && eh2sframe_options_set(options, "format", "3", &why))
		opened = file->image ? eh2sframe_open_memory(file->image,
					   file->image_size, file->path, options, &why)
				     : eh2sframe_open_fd(fd, file->path, options, &why);
	eh2sframe_options_free(options);
	if (opened)
		facts_read(opened, facts);
	else if (why.status == EH2SFRAME_NO_MEMORY)
		err_set_nomem(err);
	else
		err_set(err, ERR_UNSUPPORTED, "%.480s", why.text);
	return opened;
}

/*
 * True if a path of the process means the same file here: not where the process has another root, as in a container. Of one that
 * has ended, or that belongs to others, it is not known; the file's inode decides then.
 */
static bool rows_is_here(uint32_t pid)
{
	char name[ROWS_PATH_SIZE];
	struct stat root, own;

	snprintf(name, sizeof(name), "/proc/%u/root/", (unsigned int)pid);
	return stat(name, &root) != 0 ||
	       (stat("/", &own) == 0 && root.st_dev == own.st_dev &&
		   root.st_ino == own.st_ino);
}

/*
 * True if a file has the mapped one's inode. The device alone tells nothing: btrfs and overlayfs show one to stat() and another one
 * in the event. Overlayfs can show another inode there, too. Then only the link of the mapping itself leads to the file for sure.
 */
static bool rows_same_inode(
    const struct rows_file *file, const struct stat *st, bool by_mapping)
{
	return file->inode == 0 || file->inode == st->st_ino ||
	       (by_mapping && st->st_dev != makedev(file->major, file->minor));
}

/* The link of the mapping, which also leads to a file that was deleted or has another name by now, but is for root alone. */
static void rows_mapping(const struct rows_file *file, char path[ROWS_PATH_SIZE])
{
	snprintf(path, ROWS_PATH_SIZE, "/proc/%u/map_files/%llx-%llx",
	    (unsigned int)file->pid, (unsigned long long)file->start,
	    (unsigned long long)file->end);
}

/* Its file's state, as far as it is known without asking who serves it. */
static bool rows_look_mapping(const struct rows_file *file, struct stat *st)
{
	char path[ROWS_PATH_SIZE];
	struct statx at;
	int fd;
	bool ok;

	rows_mapping(file, path);
	fd = open(path, O_PATH | O_CLOEXEC);
	ok = fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			    STATX_BASIC_STATS, &at) == 0;
	if (ok)
		*st = (struct stat){.st_dev = makedev(at.stx_dev_major, at.stx_dev_minor),
		    .st_ino = at.stx_ino,
		    .st_size = (off_t)at.stx_size,
		    .st_mtim = {at.stx_mtime.tv_sec, at.stx_mtime.tv_nsec}};
	if (fd >= 0)
		close(fd);
	return ok && rows_same_inode(file, st, true);
}

bool rows_look(const struct rows_file *file, struct stat *st)
{
	char name[ROWS_PATH_SIZE];

	if (file->path[0] != '/')
		return false;
	if (rows_look_mapping(file, st))
		return true;
	snprintf(
	    name, sizeof(name), "/proc/%u/root%s", (unsigned int)file->pid, file->path);
	return owner_of(file->pid).is_own &&
	       (stat(name, st) == 0 ||
		   (rows_is_here(file->pid) && stat(file->path, st) == 0)) &&
	       rows_same_inode(file, st, false);
}

bool rows_look_here(const struct rows_file *file, struct stat *st)
{
	char path[ROWS_PATH_SIZE];

	return stat(file->path, st) == 0 ||
	       (naming_copy_path(file->build_id, file->build_id_size, path) &&
		   stat(path, st) == 0);
}

/* True if no other user could have written the file. */
static bool rows_is_own(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static void rows_place_open(
    const struct rows_file *file, const char *path, struct rows_place *place)
{
	struct stat here;

	place->fd = regular_open(path, &place->st);
	place->is_elsewhere = stat(file->path, &here) != 0 ||
			      here.st_dev != place->st.st_dev ||
			      here.st_ino != place->st.st_ino;
}

void rows_places_open(const struct rows_file *file, struct rows_place places[ROWS_PLACES])
{
	const unsigned int pid = file->pid;
	char path[ROWS_PATH_SIZE];

	for (size_t i = 0; i < ROWS_PLACES; i++)
		places[i] = (struct rows_place){.fd = -1};
	if (file->image)
		return;
	rows_mapping(file, path);
	rows_place_open(file, path, &places[0]);
	places[0].by_mapping = true;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, file->path);
	rows_place_open(file, path, &places[1]);
	if (places[1].fd < 0 && rows_is_here(pid))
		rows_place_open(file, file->path, &places[1]);
	/* perf keeps copies, also of a container's files and of deleted ones. */
	if (!file->live && naming_copy_path(file->build_id, file->build_id_size, path))
		rows_place_open(file, path, &places[2]);
}

void rows_places_close(struct rows_place places[ROWS_PLACES])
{
	for (size_t i = 0; i < ROWS_PLACES; i++)
		if (places[i].fd >= 0)
			close(places[i].fd);
}

bool rows_places_own(const struct rows_place places[ROWS_PLACES])
{
	for (size_t i = 0; i < ROWS_PLACES; i++)
		if (places[i].fd >= 0 &&
		    (places[i].is_elsewhere || !rows_is_own(&places[i].st)))
			return false;
	return places[0].fd >= 0 || places[1].fd >= 0;
}

/* True if what was read is the file that was mapped. */
static bool rows_is_file(const struct rows_file *file, const struct rows_place *place,
    const struct facts *facts)
{
	if (file->build_id_size)
		return file->build_id_size == facts->build_id_size &&
		       memcmp(file->build_id, facts->build_id, file->build_id_size) == 0;
	return rows_same_inode(file, &place->st, place->by_mapping) &&
	       (!file->was_seen || regular_is_same(&file->was, &place->st));
}

struct eh2sframe_file *rows_find(const struct rows_file *file,
    const struct rows_place places[ROWS_PLACES], struct rows *rows, struct err *err)
{
	if (file->image)
		return rows_open(-1, file, &rows->facts, err);
	for (size_t i = 0; i < ROWS_PLACES; i++) {
		const struct rows_place *place = &places[i];
		struct eh2sframe_file *opened;

		if (place->fd < 0)
			continue;
		/* Opening copies tables. Any user can make and map a file of terabytes that takes a block of the disk. */
		if (file->live && !rows_is_own(&place->st) &&
		    regular_is_sparse(place->fd, &place->st))
			continue;
		opened = rows_open(place->fd, file, &rows->facts, err);
		rows->is_elsewhere = place->is_elsewhere;
		if (opened && rows_is_file(file, place, &rows->facts))
			return opened;
		eh2sframe_close(opened);
		if (!opened && err->kind == ERR_NOMEM)
			return NULL;
	}
	rows->facts = (struct facts){0};
	rows->is_elsewhere = true;
	err_set(err, ERR_IO, "%s: the file that was mapped is gone", file->path);
	return NULL;
}
