/* SPDX-License-Identifier: MIT */
/* Makes sure that no output takes the place of an input or of another output. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/program/fail.h"
#include "base/program/print.h"
#include "cmd/run.h"

/* As many as Linux follows. */
enum { LINKS_MAX = 40 };

/* A missing file is not the same as any other: opening it reports that. */
static bool run_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* True if the path is an input that an option names. */
static bool run_is_beside(const struct args *args, const char *path)
{
	const char *const inputs[] = {args->debug_file, args->cfi_path, args->baseline};

	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++)
		if (inputs[i] && run_same_file(path, inputs[i]))
			return true;
	return false;
}

bool run_is_input(const struct args *args, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (run_same_file(path, args->paths[i]))
			return true;
	return run_is_beside(args, path);
}

/* Returns the name behind the last slash. *dir is its directory, or has inode 0 if there is none. */
static const char *run_parent(const char *path, struct stat *dir)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	int n = slash ? (int)(slash - path) + 1 : 1;

	if (snprintf(parent, sizeof(parent), "%.*s", n, slash ? path : ".") != n ||
	    stat(parent, dir) != 0)
		*dir = (struct stat){0};
	return slash ? slash + 1 : path;
}

/* Finds where a path leads when it is a link to what is not there yet. Returns to. */
static const char *run_follow(const char *path, char to[PATH_MAX])
{
	char link[PATH_MAX];

	snprintf(to, PATH_MAX, "%s", path);
	for (int i = 0; i < LINKS_MAX; i++) {
		const ssize_t n = readlink(to, link, sizeof(link) - 1);
		char *slash = strrchr(to, '/');
		size_t used = slash ? (size_t)(slash - to) + 1 : 0;

		if (n < 0)
			break;
		link[n] = '\0';
		if (*link == '/')
			used = 0;
		snprintf(to + used, PATH_MAX - used, "%s", link);
	}
	return to;
}

bool run_same_place(const char *a, const char *b)
{
	char a_to[PATH_MAX], b_to[PATH_MAX];
	struct stat x, y;

	return run_same_file(a, b) ||
	       (!strcmp(run_parent(run_follow(a, a_to), &x),
		    run_parent(run_follow(b, b_to), &y)) &&
		   x.st_ino && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

int run_refuse_path(const char *path, const char *what)
{
	struct eh2sframe_error error;

	cmd_fail(&error, EH2SFRAME_USAGE, "is %s; give another name", what);
	return print_error(path, &error);
}
