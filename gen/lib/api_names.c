/* SPDX-License-Identifier: MIT */
/* A file that is converted in its place, under all of its names. */
#include "gen/lib/api.h"

/* Turns the error of a caller's function into our own. Its text has its advice already, where
 * it needs any. */
static void names_error(const struct eh2sframe_error *error, struct err *err)
{
	enum err_kind kind = ERR_IO;

	if (error->status == EH2SFRAME_INPUT)
		kind = ERR_UNSUPPORTED;
	else if (error->status == EH2SFRAME_COVERAGE)
		kind = ERR_COVERAGE;
	else if (error->status == EH2SFRAME_NO_MEMORY)
		kind = ERR_NOMEM;
	else if (error->status == EH2SFRAME_USAGE)
		kind = ERR_USAGE;
	err_set(err, kind, "%.*s", (int)sizeof(err->text) - 1, error->text);
}

static int names_open(void *context, uint32_t k, const char **base, struct err *err)
{
	const struct eh2sframe_names *names = context;
	struct eh2sframe_error error = {0};
	int fd = names->open(names->context, k, base, &error);

	if (fd < 0)
		names_error(&error, err);
	return fd;
}

static bool names_ready(
    const struct eh2sframe_names *names, struct eh2sframe_result *result, struct err *err)
{
	struct eh2sframe_error error = {0};

	if (names->ready(names->context, result, &error))
		return true;
	names_error(&error, err);
	return false;
}

static bool names_result_ready(void *context, struct err *err)
{
	struct eh2sframe_result *result = context;

	return names_ready(&result->file->names, result, err);
}

static bool names_file_ready(void *context, struct err *err)
{
	return names_ready(context, NULL, err);
}

void eh2sframe_file_set_names(
    struct eh2sframe_file *file, const struct eh2sframe_names *names)
{
	if (!file || !names || !file->input)
		return;
	file->names = *names;
	file->input->names = (struct newfile_names){names->n, names_open, &file->names};
}

void api_install(const struct eh2sframe_file *file, struct eh2sframe_result *result,
    struct install *install)
{
	install->input = file->input;
	if (!file->names.n)
		return;
	install->ready = result ? names_result_ready : names_file_ready;
	install->context = result ? (void *)result : file->input->names.context;
}
