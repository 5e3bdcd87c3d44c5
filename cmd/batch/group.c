/* SPDX-License-Identifier: MIT */
/* Sorts what was listed, opens it again, frees it. */
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/batch/tree.h"

/* Two names with the same device and inode are names of one file. */
static int batch_inode_order(const struct stat *x, const struct stat *y)
{
	if (x->st_dev != y->st_dev)
		return x->st_dev < y->st_dev ? -1 : 1;
	return x->st_ino < y->st_ino ? -1 : x->st_ino > y->st_ino;
}

/* Makes the first name of a file independent of the order of its directory. */
static int batch_name_order(const void *a, const void *b)
{
	const struct batch_name *x = a, *y = b;
	int order = batch_inode_order(&x->st, &y->st);

	return order ? order : strcmp(x->path, y->path);
}

/* Equal for the same entry of the same directory, whatever path leads there. */
static int batch_place_order(const void *a, const void *b, void *context)
{
	const struct batch_name *x = a, *y = b;
	const struct batch_tree *tree = context;
	const struct batch_dir *dx = &tree->dirs[x->dir], *dy = &tree->dirs[y->dir];
	int order = batch_inode_order(&x->st, &y->st);

	if (order)
		return order;
	if (dx->dev != dy->dev)
		return dx->dev < dy->dev ? -1 : 1;
	if (dx->ino != dy->ino)
		return dx->ino < dy->ino ? -1 : 1;
	return strcmp(x->base, y->base);
}

/* Sorts the paths to one entry, so that the first one stands for it. */
static int batch_path_order(const void *a, const void *b, void *context)
{
	const struct batch_name *x = a, *y = b;
	int order = batch_place_order(a, b, context);

	return order ? order : strcmp(x->path, y->path);
}

/* Files that are not converted go last. The largest come first, so that no worker
 * starts with the longest file when the others are done. */
static int batch_work_order(const void *a, const void *b, void *context)
{
	const struct batch_tree *tree = context;
	const struct batch_name *x = &tree->names[((const struct batch_file *)a)->first];
	const struct batch_name *y = &tree->names[((const struct batch_file *)b)->first];

	if (!x->skip != !y->skip)
		return x->skip ? 1 : -1;
	if (x->st.st_size != y->st.st_size)
		return x->st.st_size > y->st.st_size ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void batch_free_name(struct batch_name *name)
{
	free(name->path);
	free(name->base);
}

/* Named paths may overlap. Keep each directory entry once, or a file would seem to have
 * more names than links. */
static void batch_drop_repeated(struct batch_tree *tree)
{
	struct batch_name *names = tree->names;
	size_t kept = 0;

	qsort_r(names, tree->n_names, sizeof(*names), batch_path_order, tree);
	for (size_t i = 0; i < tree->n_names; i++) {
		if (kept && batch_place_order(&names[kept - 1], &names[i], tree) == 0)
			batch_free_name(&names[i]);
		else
			names[kept++] = names[i];
	}
	tree->n_names = kept;
}

bool batch_tree_group(struct batch_tree *tree)
{
	struct batch_name *names = tree->names;
	struct batch_file *file = NULL;

	if (!tree->n_names)
		return true;
	batch_drop_repeated(tree);
	qsort(names, tree->n_names, sizeof(*names), batch_name_order);
	for (size_t i = 0; i < tree->n_names; i++) {
		if (file && batch_inode_order(&names[i - 1].st, &names[i].st) == 0) {
			file->n++;
			continue;
		}
		if (!vec_reserve(&tree->files, &tree->cap_files, tree->n_files + 1))
			return false;
		file = &tree->files[tree->n_files++];
		*file = (struct batch_file){(uint32_t)i, 1};
		tree->n_work += !names[i].skip;
	}
	qsort_r(tree->files, tree->n_files, sizeof(*tree->files), batch_work_order, tree);
	return true;
}

/* True if this is the directory that was listed, not another one of the same name. */
static bool batch_is_dir(int fd, const struct batch_dir *dir)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == dir->dev && st.st_ino == dir->ino;
}

/*
 * The directories on the path down to this one, except the open one, up. up is -1 when
 * the first is a named one. NULL when memory runs out.
 */
static uint32_t *batch_steps_down(
    const struct batch_tree *tree, uint32_t dir, size_t *n, int *up)
{
	size_t depth = 1;
	uint32_t *steps, top = dir;

	*up = -1;
	while (tree->dirs[top].base && *up < 0) {
		top = tree->dirs[top].parent;
		if (tree->near_fd >= 0 && top == tree->near)
			*up = fcntl(tree->near_fd, F_DUPFD_CLOEXEC, 0);
		if (*up < 0)
			depth++;
	}
	steps = malloc(depth * sizeof(*steps));
	*n = depth;
	while (steps && depth) {
		steps[--depth] = dir;
		dir = tree->dirs[dir].parent;
	}
	if (!steps && *up >= 0)
		close(*up);
	return steps;
}

/* Opens one component. Links are followed only for a path that the user named. */
static int batch_step_down(const struct batch_tree *tree, const struct batch_dir *dir,
    int up, struct eh2sframe_error *err)
{
	int fd = up < 0 ? openat(tree->start, dir->path, BATCH_OPEN_DIR)
			: openat(up, dir->base, BATCH_OPEN_DIR | O_NOFOLLOW);

	if (fd < 0) {
		cmd_fail_errno(err, "cannot open the directory");
	} else if (!batch_is_dir(fd, dir)) {
		cmd_fail(err, EH2SFRAME_IO,
		    "another process replaced the directory meanwhile; run again");
		close(fd);
		fd = -1;
	}
	return fd;
}

int batch_tree_open_dir(
    const struct batch_tree *tree, uint32_t dir, struct eh2sframe_error *err)
{
	size_t n;
	int fd = -1, up;
	uint32_t *steps = batch_steps_down(tree, dir, &n, &up);

	if (!steps) {
		cmd_fail_nomem(err);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		fd = batch_step_down(tree, &tree->dirs[steps[i]], up, err);
		if (up >= 0)
			close(up);
		up = fd;
		if (fd < 0)
			break;
	}
	free(steps);
	return fd;
}

void batch_tree_deinit(struct batch_tree *tree)
{
	for (size_t i = 0; i < tree->n_dirs; i++) {
		free(tree->dirs[i].path);
		free(tree->dirs[i].base);
	}
	for (size_t i = 0; i < tree->n_names; i++)
		batch_free_name(&tree->names[i]);
	for (size_t i = 0; i < tree->n_faults; i++)
		free(tree->faults[i].path);
	tdestroy(tree->known, free);
	free(tree->dirs);
	free(tree->names);
	free(tree->files);
	free(tree->faults);
	if (tree->start >= 0)
		close(tree->start);
	*tree = (struct batch_tree){.start = -1, .near_fd = -1};
}
