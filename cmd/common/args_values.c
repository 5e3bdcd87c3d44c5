/* SPDX-License-Identifier: MIT */
/* Values of the command's own options. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program/fail.h"
#include "base/vec.h"
#include "cmd/common/args.h"

bool args_set_sandbox(struct args *args, const char *value, struct eh2sframe_error *error)
{
	if (!value || !strcmp(value, "on"))
		args->sandbox = ARGS_SANDBOX_ON;
	else if (!strcmp(value, "auto"))
		args->sandbox = ARGS_SANDBOX_AUTO;
	else if (!strcmp(value, "off"))
		args->sandbox = ARGS_SANDBOX_OFF;
	else
		return cmd_fail(
		    error, EH2SFRAME_USAGE, "--sandbox=%s: give auto, on or off", value);
	return true;
}

bool args_set_path(const char *option, const char *value, const char **path,
    struct eh2sframe_error *error)
{
	*path = value;
	return *value ||
	       cmd_fail(error, EH2SFRAME_USAGE, "%s has an empty name; give one", option);
}

bool args_set_address(const char *text, uint64_t *out, struct eh2sframe_error *error)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (errno || *end || !isdigit((unsigned char)text[0]))
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--address=%s: give an address such as 0x400000", text);
	return true;
}

bool args_has_table(const struct args *args)
{
	return args->verb == VERB_REPORT && !args->json && !args->html &&
	       !args->functions && args->verbosity <= 0 &&
	       (args->tree || args->n_paths > 1);
}

char *args_absolute(const char *name)
{
	char *path = realpath(name, NULL), *from;

	if (path || errno == ENOMEM)
		return path;
	if (name[0] == '/')
		return strdup(name);
	from = getcwd(NULL, 0);
	if (from && asprintf(&path, "%s/%s", from, name) < 0)
		path = NULL;
	free(from);
	return path;
}

/* A file is never matched by nothing, or by what ends with a slash. */
bool args_add_glob(struct args_list *list, const char *option, const char *glob,
    struct eh2sframe_error *error)
{
	size_t length = strlen(glob);

	if (!length)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--%s has an empty pattern, which matches no file; give one", option);
	if (glob[length - 1] == '/')
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--%s=%s matches no file; write %s* for all files below it", option,
		    glob, glob);
	if (!vec_reserve(&list->values, &list->cap, list->n + 1))
		return cmd_fail_nomem(error);
	list->values[list->n++] = glob;
	return true;
}
