/* SPDX-License-Identifier: MIT */
/* Which file a process has mapped: of a name it may be another one by now, and of a container it may be elsewhere. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/names/lines.h"
#include "base/regular.h"
#include "include/eh2sframe.h"
#include "profile/stacks/file_rows.h"
#include "profile/symbols/naming_table.h"

enum { ROWS_PATH_SIZE = 4096 + 64 };
/* A program that was made so many ns before it runs may be a test, which is removed as soon as it has run. */
#define ROWS_YOUNG (UINT64_C(60) * 1000000000)

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
 * True if a path of the process means the same file here: not where the process has other mounts or another root, as in a container.
 * Of one that has ended, or that belongs to others, it is not known; the file's inode decides then.
 */
static bool rows_is_here(uint32_t pid)
{
	char name[64], root[2];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%u/root", (unsigned int)pid);
	n = readlink(name, root, sizeof(root));
	return (n < 0 || (n == 1 && root[0] == '/')) && owner_has_mounts(pid);
}

static uint64_t rows_made_ns(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
}

bool rows_may_be(const struct rows_file *file, const struct stat *st, bool by_mapping)
{
	return (file->inode == 0 || file->inode == st->st_ino ||
		   (by_mapping && st->st_dev != makedev(file->major, file->minor))) &&
	       (file->time == 0 || rows_made_ns(st) <= file->time);
}

/* The link of the mapping, which also leads to a file that was deleted or has another name by now, but is for root alone. */
static void rows_mapping(const struct rows_file *file, char path[ROWS_PATH_SIZE])
{
	snprintf(path, ROWS_PATH_SIZE, "/proc/%u/map_files/%llx-%llx",
	    (unsigned int)file->pid, (unsigned long long)file->start,
	    (unsigned long long)file->end);
}

static bool rows_is_before(
    const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/*
 * When a file was made or, if that is later, written last. Links and rights change its last time alone, and tools set that of writing, to
 * the past or the future: the earlier of both is no later than the contents.
 */
static struct timespec rows_made_at(const struct statx *at)
{
	const struct statx_timestamp *last = &at->stx_mtime;

	if (rows_is_before(&at->stx_ctime, last))
		last = &at->stx_ctime;
	if (at->stx_mask & STATX_BTIME && rows_is_before(last, &at->stx_btime))
		last = &at->stx_btime;
	return (struct timespec){last->tv_sec, last->tv_nsec};
}

/* The state of a file at a path, or of an open one, as far as it is known without asking who serves it. mount: or NULL. */
static bool rows_stat(int fd, const char *path, struct stat *st, uint64_t *mount)
{
	struct statx at;

	/* The folder itself has no file's path. */
	if (statx(fd, path, AT_STATX_DONT_SYNC | (fd < 0 ? 0 : AT_EMPTY_PATH),
		STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &at) != 0)
		return false;
	*st = (struct stat){.st_dev = makedev(at.stx_dev_major, at.stx_dev_minor),
	    .st_ino = at.stx_ino,
	    .st_mode = at.stx_mode,
	    .st_uid = at.stx_uid,
	    .st_gid = at.stx_gid,
	    .st_size = (off_t)at.stx_size,
	    .st_blocks = (blkcnt_t)at.stx_blocks,
	    .st_mtim = {at.stx_mtime.tv_sec, at.stx_mtime.tv_nsec},
	    .st_ctim = rows_made_at(&at)};
	if (mount)
		*mount = at.stx_mnt_id;
	return true;
}

/* Looks at what is open as a path, and closes it. */
static bool rows_look_at(
    const struct rows_file *file, int fd, bool by_mapping, struct stat *st)
{
	bool ok = rows_stat(fd, "", st, NULL) && rows_may_be(file, st, by_mapping);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool rows_look_mapping(const struct rows_file *file, struct stat *st)
{
	char path[ROWS_PATH_SIZE];

	rows_mapping(file, path);
	return rows_look_at(file, open(path, O_PATH | O_CLOEXEC), true, st);
}

/* The path here, if the kernel has it in memory, as that of a file that is mapped: then no file system is asked. */
static int rows_open_cached(const struct rows_file *file)
{
	return file->path[0] == '/' ? regular_path(AT_FDCWD, file->path, RESOLVE_CACHED)
				    : -1;
}

bool rows_look(const struct rows_file *file, struct stat *st)
{
	return file->path[0] == '/' &&
	       (rows_look_mapping(file, st) ||
		   (rows_is_here(file->pid) &&
		       rows_look_at(file, rows_open_cached(file), false, st)));
}

/* True if a user may have made or may serve the files of a mount, and says what he likes of their owners. */
static bool rows_is_served(uint64_t mount)
{
	char begins[32], *text, *rest, *line;
	struct err ignored;
	bool served = true;
	size_t size, n;

	n = (size_t)snprintf(begins, sizeof(begins), "%llu ", (unsigned long long)mount);
	if (!lines_read("/proc/self/mountinfo", &text, &size, &ignored) || !text)
		return true;
	for (rest = text; (line = lines_next(&rest));) {
		const char *kind = strstr(line, " - ");

		if (strncmp(line, begins, n) == 0 && kind)
			served =
			    strncmp(kind, " - fuse", 7) == 0 || strstr(line, "nosuid");
	}
	free(text);
	return served;
}

bool rows_look_here(const struct rows_file *file, struct stat *st)
{
	char path[ROWS_PATH_SIZE];

	return (file->path[0] == '/' && rows_stat(AT_FDCWD, file->path, st, NULL)) ||
	       (naming_copy_path(file->build_id, file->build_id_size, path) &&
		   rows_stat(AT_FDCWD, path, st, NULL));
}

/*
 * True if no other user could have written the file. A group that has its user's number is root's, or what systems make for a user
 * alone, whose files it may write by default; another one's members can be anybody.
 */
static bool rows_wrote_own(const struct stat *st)
{
	const mode_t others = st->st_gid == st->st_uid ? S_IWOTH : S_IWOTH | S_IWGRP;

	return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & others);
}

/* Opens for reading what is open as a path, and closes that. */
static bool rows_open_again(int fd, struct rows_place *place)
{
	uint32_t generation[2] = {0}; /* as FUSE may write a long */
	char path[64];

	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	place->fd = regular_open(path, &place->st);
	close(fd);
	if (place->fd < 0 || !rows_stat(place->fd, "", &place->st, NULL))
		return place->fd >= 0;
	ioctl(place->fd, FS_IOC_GETVERSION, generation);
	place->generation = generation[0];
	return true;
}

static void rows_place_fill(
    const struct rows_file *file, int fd, struct rows_place *place)
{
	struct stat here;

	rows_open_again(fd, place);
	place->is_elsewhere = stat(file->path, &here) != 0 ||
			      here.st_dev != place->st.st_dev ||
			      here.st_ino != place->st.st_ino;
}

static int rows_root(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/root", (unsigned int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* As the process sees the path. The kernel's names have no links: one was put there since. */
static int rows_open_root(const struct rows_file *file)
{
	int root = rows_root(file->pid), fd = -1;

	if (root < 0)
		root = rows_root(file->owner.pid);
	if (root >= 0) {
		fd = regular_path(root, file->path + (file->path[0] == '/'),
		    RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
		close(root);
	}
	return fd;
}

static void rows_places_begin(struct rows_place places[ROWS_PLACES])
{
	for (size_t i = 0; i < ROWS_PLACES; i++)
		places[i] = (struct rows_place){.fd = -1};
}

/* True if a stranger's process sees the same file at a path as this one, here. */
static bool rows_is_shared(const struct rows_file *file, const struct stat *here)
{
	char name[64], root[2];
	struct stat seen;

	snprintf(name, sizeof(name), "/proc/%u/root", (unsigned int)file->pid);
	/* Where a process was that is gone is known of its owner, unless there is none. */
	if ((readlink(name, root, sizeof(root)) >= 0 || errno == EACCES ||
		file->owner.place == 0) &&
	    rows_is_here(file->pid))
		return rows_may_be(file, here, false);
	return rows_look_mapping(file, &seen) && seen.st_dev == here->st_dev &&
	       seen.st_ino == here->st_ino;
}

/*
 * Opens the path here, if root or this process's user wrote the file, and nobody can serve it in their name. again: also asks for the mount
 * that was asked for last, whose number may be another's by now.
 */
static int rows_open_own(const struct rows_file *file, bool again, struct stat *st)
{
	static uint64_t asked;
	static bool served = true;
	int fd = rows_open_cached(file);
	uint64_t mount;
	bool own =
	    rows_stat(fd, "", st, &mount) && S_ISREG(st->st_mode) && rows_wrote_own(st);

	if (own && (again || mount != asked)) {
		served = rows_is_served(mount);
		asked = mount;
	}
	if (own && !served)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool rows_is_own(const struct rows_file *file)
{
	struct stat st;
	int fd = file->owner.is_own ? -1 : rows_open_own(file, false, &st);

	if (fd < 0)
		return file->owner.is_own;
	close(fd);
	return rows_is_shared(file, &st);
}

bool rows_places_open_own(
    const struct rows_file *file, struct rows_place places[ROWS_PLACES])
{
	struct stat st;

	rows_places_begin(places);
	return rows_open_again(rows_open_own(file, true, &st), &places[0]);
}

void rows_places_open(const struct rows_file *file, struct rows_place places[ROWS_PLACES])
{
	char path[ROWS_PATH_SIZE];

	rows_places_begin(places);
	if (file->image)
		return;
	rows_mapping(file, path);
	rows_place_fill(file, open(path, O_PATH | O_CLOEXEC), &places[0]);
	places[0].by_mapping = places[0].fd >= 0;
	/* Any user has that of his own program, which other files of the process are told from. */
	snprintf(path, sizeof(path), "/proc/%u/exe", (unsigned int)file->pid);
	if (places[0].fd < 0 && file->live && (file->build_id_size || file->inode))
		rows_place_fill(file, open(path, O_PATH | O_CLOEXEC), &places[0]);
	rows_place_fill(file, rows_open_root(file), &places[1]);
	if (places[1].fd < 0 && rows_is_here(file->pid))
		rows_place_fill(file, open(file->path, O_PATH | O_CLOEXEC), &places[1]);
	/* perf keeps copies, also of a container's files and of deleted ones. */
	if (!file->live && naming_copy_path(file->build_id, file->build_id_size, path))
		rows_place_fill(file, open(path, O_PATH | O_CLOEXEC), &places[2]);
}

void rows_places_close(struct rows_place places[ROWS_PLACES])
{
	for (size_t i = 0; i < ROWS_PLACES; i++)
		if (places[i].fd >= 0)
			close(places[i].fd);
}

/* True if what was read is the file that was mapped. */
static bool rows_is_file(const struct rows_file *file, const struct rows_place *place,
    const struct facts *facts)
{
	if (file->build_id_size)
		return file->build_id_size == facts->build_id_size &&
		       memcmp(file->build_id, facts->build_id, file->build_id_size) == 0;
	return rows_may_be(file, &place->st, place->by_mapping) &&
	       (!file->generation || !place->generation ||
		   file->generation == place->generation) &&
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
		if (file->live && !rows_wrote_own(&place->st) &&
		    regular_is_sparse(place->fd, &place->st))
			continue;
		opened = rows_open(place->fd, file, &rows->facts, err);
		rows->keeps_names =
		    place->is_elsewhere ||
		    (file->time && rows_made_ns(&place->st) + ROWS_YOUNG > file->time);
		if (opened && rows_is_file(file, place, &rows->facts))
			return opened;
		eh2sframe_close(opened);
		if (!opened && err->kind == ERR_NOMEM)
			return NULL;
	}
	rows->facts = (struct facts){0};
	rows->keeps_names = true;
	err_set(err, ERR_IO, "%s: the file that was mapped is gone", file->path);
	return NULL;
}
