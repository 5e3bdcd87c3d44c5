/* SPDX-License-Identifier: MIT */
/*
 * The directories under the named paths, and the names of ELF files, those of one inode
 * together. Symbolic links are followed only where the user named one. Other file
 * systems are not entered, and only regular files and directories are opened. Every
 * later access goes down again from a named path, component by component, without
 * links: so a directory that was replaced meanwhile is noticed.
 */
#ifndef CMD_BATCH_TREE_H
#define CMD_BATCH_TREE_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cmd/batch/batch.h"

/*
 * Directories further down are refused. Every later access takes a step for each level, and
 * under Landlock as many again; a path is kept for each file. So time and memory of a file
 * are bounded, and any other program could open it by its path.
 */
enum { BATCH_MAX_DEPTH = 256, BATCH_MAX_PATH = PATH_MAX - NAME_MAX - 2 };

/* No index. */
#define BATCH_NO_DIR UINT32_MAX

/* Does not wait for a pipe and follows no links. Check what was opened before reading it.
 */
#define BATCH_OPEN_FILE (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define BATCH_OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct batch_dir {
	char *path;	    /* as the user would write it */
	char *base;	    /* its name in parent; NULL: open path itself */
	uint32_t parent;    /* an index */
	size_t root;	    /* how much of path the user named; the rest is below that */
	unsigned int depth; /* levels below that */
	bool listed;	    /* everything below it is meant, not only a named file */
	dev_t dev;
	ino_t ino;
};

/* One name of an ELF file. */
struct batch_name {
	char *path; /* as the user would write it */
	char *base; /* its name in dir */
	uint32_t dir;
	const char *skip; /* why not to convert it, as its header shows; or NULL */
	struct stat st;	  /* when it was listed */
};

/* An inode: some neighbours in names. */
struct batch_file {
	uint32_t first, n;
};

/* A path that could not be listed. */
struct batch_fault {
	char *path;
	struct eh2sframe_error err;
};

struct batch_tree {
	struct batch_dir *dirs;
	size_t n_dirs, cap_dirs;
	struct batch_name *names; /* ascending by inode, then path */
	size_t n_names, cap_names;
	/* First those that are for conversion, n_work, the largest first. */
	struct batch_file *files;
	size_t n_files, cap_files, n_work;
	struct batch_fault *faults;
	size_t n_faults, cap_faults;
	uint64_t n_others;	 /* regular files that are not ELF */
	uint64_t n_mount_points; /* directories of other file systems */
	uint64_t n_excluded;	 /* files, and whole directories, that args exclude */
	const struct args *args; /* while listing: paths, globs */
	void *known;		 /* for tsearch: the directories in dirs */
	int start; /* the directory that relative paths begin in; -1: none */
	/* While listing: the directory opened last; the next is near it. near_fd is -1
	 * when there is none. */
	uint32_t near;
	int near_fd;
};

/*
 * Lists all paths of args. A path or directory that cannot be read is a fault in the tree;
 * false means that memory ran out. When a signal came (batch_signal) the tree is
 * incomplete. Free it with batch_tree_deinit in any case.
 */
ATTR_MUST_CHECK bool batch_tree_list(
    struct batch_tree *tree, const struct args *args, struct eh2sframe_error *err);
void batch_tree_deinit(struct batch_tree *tree);

/* Opens a directory that was listed; -1 with err when it is gone or was replaced. */
int batch_tree_open_dir(
    const struct batch_tree *tree, uint32_t dir, struct eh2sframe_error *err);

/* True for a file that this program is writing, or was writing when it was killed.
 * Converting it would put another file, with another mode, in its place. */
bool batch_is_temporary(const char *base);

/* Groups the names of each inode, and sorts the files. */
ATTR_MUST_CHECK bool batch_tree_group(struct batch_tree *tree);

/* The first name of a file. */
static inline const struct batch_name *batch_tree_name(
    const struct batch_tree *tree, size_t file)
{
	return &tree->names[tree->files[file].first];
}

#endif
