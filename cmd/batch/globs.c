/* SPDX-License-Identifier: MIT */
/* Matching globs. */
#include "cmd/batch/globs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* An asterisk also stands for slashes, as for find -path. */
static bool globs_match(const char *glob, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!strchr(glob, '/'))
		return fnmatch(glob, slash ? slash + 1 : path, 0) == 0;
	/* A slash at the start is the named directory. */
	return fnmatch(glob + strspn(glob, "/"), path, 0) == 0;
}

static bool globs_any(const struct args_list *globs, const char *path)
{
	for (size_t i = 0; i < globs->n; i++)
		if (globs_match(globs->values[i], path))
			return true;
	return false;
}

bool batch_globs_take(const struct args *args, const char *path)
{
	return (!args->include.n || globs_any(&args->include, path)) &&
	       !globs_any(&args->exclude, path);
}

/* True if the glob ends with a slash and an asterisk, and matches path with what is before them. */
static bool globs_all_below(const char *glob, const char *path)
{
	size_t length = strlen(glob);
	char *dir;
	bool match;

	if (length < 3 || strcmp(glob + length - 2, "/*") != 0)
		return false;
	dir = strndup(glob, length - 2);
	match = dir && fnmatch(dir + strspn(dir, "/"), path, 0) == 0;
	free(dir);
	return match;
}

bool batch_globs_enter(const struct args *args, const char *path)
{
	for (size_t i = 0; i < args->exclude.n; i++)
		if (globs_all_below(args->exclude.values[i], path))
			return false;
	return true;
}
