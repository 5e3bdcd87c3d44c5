/* SPDX-License-Identifier: MIT */
#include "profile/stacks/file_rows.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/regular.h"
#include "include/eh2sframe.h"
#include "profile/symbols/naming_debug.h"
#include "profile/symbols/naming_table.h"

enum { ROWS_PATH_SIZE = 4096 + 64 };
/* Seconds of processor time: libLLVM takes one. */
enum { ROWS_SECONDS = 10 };

void rows_free(struct rows *rows)
{
	symbols_deinit(&rows->symbols);
	free(rows->names);
	free(rows->section);
	free(rows->extra);
	*rows = (struct rows){0};
}

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

/* Opens an ELF file of a descriptor, or of memory where it has an image. ERR_UNSUPPORTED when it is none with rows; ERR_NOMEM. */
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

bool facts_address(const struct facts *facts, uint64_t offset, uint64_t *address)
{
	const struct facts_part *found = NULL;

	/* A mapping starts and ends with a page, a part anywhere; parts can share a page. */
	for (size_t i = 0; i < facts->n_parts; i++) {
		const struct facts_part *part = &facts->parts[i];

		if (offset - part->offset < part->size) {
			found = part;
			break;
		}
		if (!found && part->size > 0 &&
		    offset >= (part->offset & ~UINT64_C(0xfff)) &&
		    offset <= ((part->offset + part->size - 1) | UINT64_C(0xfff)))
			found = part;
	}
	if (found)
		*address = found->address + (offset - found->offset);
	return found;
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

bool rows_look(const struct rows_file *file, struct stat *st)
{
	char name[ROWS_PATH_SIZE];

	snprintf(
	    name, sizeof(name), "/proc/%u/root%s", (unsigned int)file->pid, file->path);
	return file->path[0] == '/' &&
	       (stat(name, st) == 0 ||
		   (rows_is_here(file->pid) && stat(file->path, st) == 0)) &&
	       rows_same_inode(file, st, false);
}

/* True if no other user could have written the file. */
static bool rows_is_own(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Opens one path, if it is the file; *fd: its descriptor. */
static struct eh2sframe_file *rows_try(const char *path, bool by_mapping,
    const struct rows_file *file, struct rows *rows, int *fd)
{
	const struct facts *facts = &rows->facts;
	struct eh2sframe_file *opened;
	struct stat st, here;
	struct err err;
	bool same;

	*fd = regular_open(path, &st);
	if (*fd < 0)
		return NULL;
	/* Opening copies tables. Any user can make and map a file of terabytes that takes a block of the disk. */
	if (file->live && !rows_is_own(&st) && regular_is_sparse(*fd, &st))
		opened = NULL;
	else
		opened = rows_open(*fd, file, &rows->facts, &err);
	if (!opened)
		same = false;
	else if (file->build_id_size)
		same = file->build_id_size == facts->build_id_size &&
		       memcmp(file->build_id, facts->build_id, file->build_id_size) == 0;
	else
		same = rows_same_inode(file, &st, by_mapping) &&
		       (!file->was_seen || regular_is_same(&file->was, &st));
	rows->is_elsewhere = stat(file->path, &here) != 0 || here.st_dev != st.st_dev ||
			     here.st_ino != st.st_ino;
	if (same)
		return opened;
	eh2sframe_close(opened);
	close(*fd);
	*fd = -1;
	return NULL;
}

/*
 * The file by its mapping, which also works when it was deleted or has another name by now, but is for root alone. Else as its process
 * sees it, or by its path here.
 */
static struct eh2sframe_file *rows_find(
    const struct rows_file *file, struct rows *rows, int *fd)
{
	const unsigned int pid = file->pid;
	struct eh2sframe_file *opened;
	char path[ROWS_PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
	    (unsigned long long)file->start, (unsigned long long)file->end);
	opened = rows_try(path, true, file, rows, fd);
	if (opened)
		return opened;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, file->path);
	opened = rows_try(path, false, file, rows, fd);
	if (!opened && rows_is_here(pid))
		opened = rows_try(file->path, false, file, rows, fd);
	/* perf keeps copies, also of a container's files and of deleted ones. */
	if (!opened && !file->live &&
	    naming_copy_path(file->build_id, file->build_id_size, path))
		opened = rows_try(path, false, file, rows, fd);
	return opened;
}

/* A file without CFI is right, and has no rows. */
static bool rows_convert(const struct eh2sframe_file *file, const char *path,
    struct rows *rows, struct err *err)
{
	struct eh2sframe_walk_module made = {.struct_size = sizeof(made)};
	struct eh2sframe_error why;

	if (eh2sframe_rows(file, &made, &why)) {
		/* Both are this program's to free. */
		rows->section = (uint8_t *)(uintptr_t)made.bytes;
		rows->size = made.size;
		rows->address = made.address;
		rows->extra = (struct eh2sframe_extra *)(uintptr_t)made.extra;
		rows->n_extra = made.n_extra;
		return true;
	}
	return why.status == EH2SFRAME_NOTHING ||
	       err_set(err,
		   why.status == EH2SFRAME_NO_MEMORY ? ERR_NOMEM : ERR_UNSUPPORTED,
		   "%s: %.480s", path, why.text);
}

bool rows_make_here(
    int fd, const char *path, bool names, struct rows *rows, struct err *err)
{
	const struct rows_file file = {.path = path};
	struct table table = {.file = rows_open(fd, &file, &rows->facts, err)};
	bool ok = table.file && rows_convert(table.file, path, rows, err) &&
		  (!names || table_read_file(&table, err));

	rows->symbols = table.symbols;
	rows->names = table.text;
	table.symbols = (struct symbols){0};
	table.text = NULL;
	table_free(&table);
	for (size_t i = 0; i < rows->symbols.n; i++) {
		const char *name = rows->symbols.list[i].name;
		size_t end = (size_t)(name - rows->names) + strlen(name) + 1;

		rows->n_names = end > rows->n_names ? end : rows->n_names;
	}
	return ok;
}

/*
 * Whose file it is decides who converts it: this process those of root and of its own user. Root of a container is none of them, and
 * its files are elsewhere.
 */
static bool rows_is_trusted(const struct stat *st, const struct rows *rows)
{
	return !rows->is_elsewhere && rows_is_own(st);
}

static bool rows_make_others(struct rows_made *made, int fd, const struct stat *st,
    const char *path, struct rows *rows, struct err *err)
{
	const struct apart_limits limits = {
	    .memory = UINT64_C(4) << 30, .seconds = ROWS_SECONDS};
	uint64_t start = spent_now();
	bool ok;

	if (!spent_may(&made->apart, st->st_uid))
		return err_set(err, ERR_LIMIT,
		    "%s: other files of its owner have taken too long to convert", path);
	ok = rows_make_apart(fd, path, rows->is_elsewhere, &limits, rows, err);
	spent_add(&made->apart, st->st_uid, start);
	return ok;
}

bool rows_make(struct rows_made *made, const struct rows_file *file, struct rows *rows,
    struct err *err)
{
	uint64_t start = spent_now();
	struct eh2sframe_file *opened;
	struct stat st;
	int fd = -1;
	bool ok;

	*rows = (struct rows){0};
	opened = file->image ? rows_open(fd, file, &rows->facts, err)
			     : rows_find(file, rows, &fd);
	if (!opened && !file->image) {
		rows->facts = (struct facts){0};
		rows->is_elsewhere = true;
		err_set(err, ERR_IO, "%s: the file that was mapped is gone", file->path);
	}
	if (!opened || file->facts_only)
		ok = opened;
	else if (fd < 0 || !file->live)
		ok = rows_convert(opened, file->path, rows, err);
	else if (fstat(fd, &st) != 0)
		ok = err_set_errno(err, "%s", file->path);
	else if (rows_is_trusted(&st, rows))
		ok = rows_convert(opened, file->path, rows, err);
	else
		ok = rows_make_others(made, fd, &st, file->path, rows, err);
	eh2sframe_close(opened);
	if (fd >= 0)
		close(fd);
	made->n += ok && !file->facts_only;
	made->ns += spent_now() - start;
	return ok;
}
