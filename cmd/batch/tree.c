/* SPDX-License-Identifier: MIT */
/* Lists a tree, and opens what it listed. */
#include "cmd/batch/tree.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/vec.h"
#include "cmd/batch/globs.h"
#include "cmd/batch/module.h"

/* Two bind mounts of one directory count as one directory. So does a loop of them. */
static int batch_dir_order(const void *a, const void *b)
{
	const struct batch_dir *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Entry of tsearch. The array moves when it grows, so each entry has its own key. */
struct batch_known {
	struct batch_dir key; /* dev and ino */
	uint32_t index;
};

static void batch_free_dir(struct batch_dir *dir)
{
	free(dir->path);
	free(dir->base);
}

/* The directory's index, new or not; BATCH_NO_DIR when memory runs out. Takes what dir
 * owns. */
static uint32_t batch_enter_dir(struct batch_tree *tree, struct batch_dir *dir)
{
	struct batch_known *fresh = malloc(sizeof(*fresh)), **found;

	if (!fresh || tree->n_dirs >= BATCH_NO_DIR ||
	    !vec_reserve(&tree->dirs, &tree->cap_dirs, tree->n_dirs + 1))
		goto nomem;
	*fresh = (struct batch_known){.key = *dir, .index = (uint32_t)tree->n_dirs};
	found = tsearch(fresh, &tree->known, batch_dir_order);
	if (!found)
		goto nomem;
	if (*found != fresh) {
		uint32_t index = (*found)->index;

		free(fresh);
		/* So far only a named file of this directory was meant. Now its other
		 * files are meant, too, by the names that they have here. */
		if (!dir->listed || tree->dirs[index].listed) {
			batch_free_dir(dir);
			return index;
		}
		(*found)->index = (uint32_t)tree->n_dirs;
	}
	tree->dirs[tree->n_dirs] = *dir;
	return (uint32_t)tree->n_dirs++;
nomem:
	batch_free_dir(dir);
	free(fresh);
	return BATCH_NO_DIR;
}

static bool batch_add_fault(
    struct batch_tree *tree, const char *path, const struct eh2sframe_error *why)
{
	char *copy = strdup(path);

	if (!copy || !vec_reserve(&tree->faults, &tree->cap_faults, tree->n_faults + 1)) {
		free(copy);
		return false;
	}
	tree->faults[tree->n_faults++] = (struct batch_fault){copy, *why};
	return true;
}

static char *batch_join(const char *dir, const char *name)
{
	size_t length = strlen(dir);
	const char *slash = length && dir[length - 1] == '/' ? "" : "/";
	char *path;

	return asprintf(&path, "%s%s%s", dir, slash, name) < 0 ? NULL : path;
}

/* Returns why a file is skipped, as a word of the report. */
static const char *batch_skip(
    const struct args *args, enum eh2sframe_kind kind, int fd, const struct stat *st)
{
	switch (kind) {
	case EH2SFRAME_KIND_OTHER_MACHINE:
		return "other-machine";
	case EH2SFRAME_KIND_RELOCATABLE:
		return batch_module_skip(args, fd, st);
	case EH2SFRAME_KIND_CORE:
		return "core";
	case EH2SFRAME_KIND_LINKED:
	case EH2SFRAME_KIND_NOT_ELF:
		break;
	}
	return NULL;
}

/* A file that is too short here is not ELF; one that is cut later is a failure. */
static bool batch_read_kind(int fd, enum eh2sframe_kind *kind, bool *archive)
{
	unsigned char header[sizeof(Elf64_Ehdr)];
	const ssize_t n = regular_read(fd, header, sizeof(header), 0);

	if (n >= 0)
		*kind = eh2sframe_kind(header, (size_t)n);
	*archive = n > 8 && !memcmp(header, "!<arch>\n", 8);
	return n >= 0;
}

/*
 * Adds a regular file: base in the directory dirfd. Opens it without waiting, because it
 * may have become a pipe, and then checks it. Takes path.
 */
static bool batch_add_file(
    struct batch_tree *tree, int dirfd, uint32_t dir, const char *base, char *path)
{
	struct batch_name name = {.path = path, .dir = dir};
	struct eh2sframe_error why;
	enum eh2sframe_kind kind = EH2SFRAME_KIND_NOT_ELF;
	bool ok = true, archive = false;
	int fd = openat(dirfd, base, BATCH_OPEN_FILE);

	if (fd < 0 || fstat(fd, &name.st) < 0 ||
	    (S_ISREG(name.st.st_mode) && !batch_read_kind(fd, &kind, &archive))) {
		cmd_fail_errno(&why, fd < 0 ? "cannot open" : "cannot read");
		ok = batch_add_fault(tree, path, &why);
	} else if (kind != EH2SFRAME_KIND_NOT_ELF ||
		   (archive && tree->args->objects && !tree->args->linked_only) ||
		   (S_ISREG(name.st.st_mode) && batch_module_is_packed(base))) {
		name.skip = kind == EH2SFRAME_KIND_NOT_ELF && !archive
				? "compressed-module"
				: batch_skip(tree->args, kind, fd, &name.st);
		name.base = strdup(base);
		ok = name.base &&
		     vec_reserve(&tree->names, &tree->cap_names, tree->n_names + 1);
		if (ok)
			tree->names[tree->n_names++] = name;
		else
			free(name.base);
	} else if (S_ISREG(name.st.st_mode)) {
		tree->n_others++;
	}
	if (fd >= 0)
		close(fd);
	if (!ok || !name.base)
		free(path);
	return ok;
}

/* Notes that a directory is too far down. */
static bool batch_refuse_dir(struct batch_tree *tree, const struct batch_dir *dir)
{
	struct eh2sframe_error why;

	cmd_fail(&why, EH2SFRAME_INPUT,
	    "%s; it is not searched: name a directory further down",
	    dir->depth > BATCH_MAX_DEPTH
		? "more than 256 levels below the named path"
		: "a path of more than 3839 bytes, too long to open files in it");
	return batch_add_fault(tree, dir->path, &why);
}

/* Adds a directory, to be listed later: a deep tree costs no stack and no descriptors.
 * Takes path. */
static bool batch_add_dir(struct batch_tree *tree, uint32_t parent, const char *base,
    char *path, const struct stat *st)
{
	struct batch_dir dir = {.path = path,
	    .parent = parent,
	    .root = tree->dirs[parent].root,
	    .depth = tree->dirs[parent].depth + 1,
	    .listed = true,
	    .dev = st->st_dev,
	    .ino = st->st_ino};
	bool ok;

	if (dir.depth > BATCH_MAX_DEPTH || strlen(path) > BATCH_MAX_PATH) {
		ok = batch_refuse_dir(tree, &dir);
		free(path);
		return ok;
	}
	dir.base = strdup(base);
	if (!dir.base) {
		free(path);
		return false;
	}
	return batch_enter_dir(tree, &dir) != BATCH_NO_DIR;
}

bool batch_is_temporary(const char *base)
{
	static const char start[] = ".eh2sframe.";

	return strncmp(base, start, sizeof(start) - 1) == 0;
}

/* Returns the path of something in a directory that was listed, below what the user named. */
static const char *batch_below(const struct batch_dir *parent, const char *path)
{
	path += parent->root;
	return path + strspn(path, "/");
}

/* Skips what is neither a regular file nor a directory, without opening it. */
static bool batch_add_entry(
    struct batch_tree *tree, int dirfd, uint32_t parent, const char *base)
{
	char *path = batch_join(tree->dirs[parent].path, base);
	struct eh2sframe_error why;
	const char *below;
	struct stat st;
	bool ok = true;

	if (!path)
		return false;
	below = batch_below(&tree->dirs[parent], path);
	if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		cmd_fail_errno(&why, "cannot stat");
		ok = batch_add_fault(tree, path, &why);
	} else if (S_ISREG(st.st_mode) && !batch_is_temporary(base)) {
		if (batch_globs_take(tree->args, below))
			return batch_add_file(tree, dirfd, parent, base, path);
		tree->n_excluded++;
	} else if (S_ISDIR(st.st_mode)) {
		if (!batch_globs_enter(tree->args, below))
			tree->n_excluded++;
		else if (st.st_dev == tree->dirs[parent].dev)
			return batch_add_dir(tree, parent, base, path, &st);
		else
			tree->n_mount_points++;
	}
	free(path);
	return ok;
}

/* Keeps the directory that was opened last; fd -1: none. */
static void batch_keep_near(struct batch_tree *tree, uint32_t index, int fd)
{
	if (tree->near_fd >= 0)
		close(tree->near_fd);
	tree->near = index;
	tree->near_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static bool batch_list_dir(struct batch_tree *tree, uint32_t index)
{
	struct eh2sframe_error why;
	int fd = batch_tree_open_dir(tree, index, &why);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool ok = true;

	if (!stream) {
		if (fd >= 0) {
			cmd_fail_errno(&why, "cannot read");
			close(fd);
		}
		return batch_add_fault(tree, tree->dirs[index].path, &why);
	}
	batch_keep_near(tree, index, fd);
	errno = 0;
	while (ok && !batch_signal && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ok = batch_add_entry(tree, dirfd(stream), index, entry->d_name);
		errno = 0;
	}
	if (ok && errno) {
		cmd_fail_errno(&why, "cannot read");
		ok = batch_add_fault(tree, tree->dirs[index].path, &why);
	}
	closedir(stream);
	return ok;
}

/* Adds a named file: its directory is entered without following links, but not listed. */
static bool batch_name_file(struct batch_tree *tree, const char *path)
{
	struct batch_dir dir = {0};
	char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
	struct eh2sframe_error why;
	struct stat st;
	bool ok = false;
	char *copy = strdup(path);
	uint32_t index;
	int fd = -1;

	if (slash)
		dir.path = strndup(real, (size_t)(slash - real) + 1);
	if (dir.path)
		fd = open(dir.path, BATCH_OPEN_DIR);
	if (fd < 0 || !copy || fstat(fd, &st) < 0) {
		cmd_fail_errno(&why, "cannot open");
		ok = batch_add_fault(tree, path, &why);
		batch_free_dir(&dir);
		free(copy);
	} else {
		dir.dev = st.st_dev;
		dir.ino = st.st_ino;
		index = batch_enter_dir(tree, &dir);
		if (index != BATCH_NO_DIR)
			ok = batch_add_file(tree, fd, index, slash + 1, copy);
		else
			free(copy);
	}
	if (fd >= 0)
		close(fd);
	free(real);
	return ok;
}

/* The user may name a symbolic link. */
static bool batch_name_path(struct batch_tree *tree, const char *path)
{
	struct batch_dir dir = {.root = strlen(path), .listed = true};
	const char *slash = strrchr(path, '/');
	struct eh2sframe_error why;
	struct stat st;

	if (stat(path, &st) < 0) {
		cmd_fail_errno(&why, "cannot open");
		return batch_add_fault(tree, path, &why);
	}
	if (S_ISREG(st.st_mode) &&
	    !batch_globs_take(tree->args, slash ? slash + 1 : path)) {
		tree->n_excluded++;
		return true;
	}
	if (S_ISREG(st.st_mode))
		return batch_name_file(tree, path);
	if (!S_ISDIR(st.st_mode)) {
		cmd_fail(&why, EH2SFRAME_INPUT, "neither a regular file nor a directory");
		return batch_add_fault(tree, path, &why);
	}
	dir.path = strdup(path);
	dir.dev = st.st_dev;
	dir.ino = st.st_ino;
	return dir.path && batch_enter_dir(tree, &dir) != BATCH_NO_DIR;
}

bool batch_tree_list(
    struct batch_tree *tree, const struct args *args, struct eh2sframe_error *err)
{
	size_t next = 0;

	*tree = (struct batch_tree){.args = args,
	    .start = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC),
	    .near_fd = -1};
	if (tree->start < 0)
		return cmd_fail_errno(err, "cannot open the current directory");
	for (size_t i = 0; i < args->n_paths && !batch_signal; i++) {
		if (!batch_name_path(tree, args->paths[i]))
			return cmd_fail_nomem(err);
		/* Directories found below are appended, until there are no more. */
		for (; next < tree->n_dirs && !batch_signal; next++)
			if (tree->dirs[next].listed &&
			    !batch_list_dir(tree, (uint32_t)next))
				return cmd_fail_nomem(err);
	}
	batch_keep_near(tree, 0, -1);
	return batch_tree_group(tree) || cmd_fail_nomem(err);
}
