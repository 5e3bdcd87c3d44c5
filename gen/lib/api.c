/* SPDX-License-Identifier: MIT */
/*
 * The public interface: options and open files. These are handles on the heap, and errors
 * whose layout stays. The engine does the work.
 */
#include "gen/lib/api.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "config.h"

/* Returns the status that the caller sees. */
static enum eh2sframe_status api_status(enum err_kind kind)
{
	switch (kind) {
	case ERR_NONE:
		return EH2SFRAME_DONE;
	case ERR_UNSUPPORTED:
	case ERR_MALFORMED:
	case ERR_LIMIT:
		return EH2SFRAME_INPUT;
	case ERR_USAGE:
		return EH2SFRAME_USAGE;
	case ERR_IO:
		return EH2SFRAME_IO;
	case ERR_NOMEM:
		return EH2SFRAME_NO_MEMORY;
	case ERR_PROOF:
		return EH2SFRAME_PROOF;
	case ERR_COVERAGE:
		return EH2SFRAME_COVERAGE;
	case ERR_NOTHING:
		return EH2SFRAME_NOTHING;
	case ERR_INTERNAL:
		return EH2SFRAME_BUG;
	}
	return EH2SFRAME_BUG;
}

/* Advice for an error whose place of origin gave none; NULL: the text says enough. */
static const char *api_advice(const struct err *err)
{
	if (strstr(err->text, "; "))
		return NULL;
	switch (err->kind) {
	case ERR_MALFORMED:
		return "; rebuild the file";
	case ERR_UNSUPPORTED:
	case ERR_LIMIT:
		return "; leave the file out";
	case ERR_PROOF:
	case ERR_INTERNAL:
		return "; this is a bug, report it with the file";
	case ERR_NONE:
	case ERR_USAGE:
	case ERR_IO:
	case ERR_NOMEM:
	case ERR_COVERAGE:
	case ERR_NOTHING:
		break;
	}
	return NULL;
}

bool api_return(bool ok, const struct err *err, struct eh2sframe_error *error)
{
	const char *advice;
	size_t used;

	/* The public text may be larger, never smaller. */
	_Static_assert(sizeof(error->text) >= sizeof(err->text), "messages are cut off");

	if (ok || !error)
		return ok;
	advice = api_advice(err);
	error->status = api_status(err->kind);
	plain_copy(error->text, sizeof(error->text), err->text);
	used = strlen(error->text);
	if (advice && used + strlen(advice) < sizeof(error->text))
		memcpy(error->text + used, advice, strlen(advice) + 1);
	return false;
}

bool api_given(bool all_given, struct err *err)
{
	return all_given || err_set(err, ERR_USAGE, "NULL instead of a pointer");
}

const char *eh2sframe_version(void)
{
	return EH2SFRAME_VERSION;
}

const char *eh2sframe_features(void)
{
	if (EH2SFRAME_ZYDIS)
		return EH2SFRAME_ZSTD ? "zydis zstd" : "zydis";
	return EH2SFRAME_ZSTD ? "zstd" : "";
}

size_t eh2sframe_libraries(char *text, size_t size)
{
	return text ? report_libraries(text, size) : 0;
}

void eh2sframe_free(void *bytes)
{
	free(bytes);
}

struct eh2sframe_options *eh2sframe_options_new(void)
{
	struct eh2sframe_options *options = malloc(sizeof(*options));

	if (options)
		options_init(&options->options);
	return options;
}

void eh2sframe_options_free(struct eh2sframe_options *options)
{
	if (options)
		options_deinit(&options->options);
	free(options);
}

bool eh2sframe_options_set(struct eh2sframe_options *options, const char *name,
    const char *value, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(options && name, &err) &&
		  options_set(&options->options, name, value, &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_options_check(
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(options, &err) && options_check(&options->options, &err);

	return api_return(ok, &err, error);
}

void eh2sframe_options_on_temporary(struct eh2sframe_options *options,
    void (*notify)(void *context, const char *path, bool exists), void *context)
{
	if (options)
		options->options.watch = (struct newfile_watch){notify, context};
}

/* Returns a file without an image yet; NULL with err set. */
static struct eh2sframe_file *api_file_new(
    bool all_given, const struct eh2sframe_options *options, struct err *err)
{
	struct eh2sframe_file *file;
	bool ok = true;

	if (!api_given(all_given, err))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file) {
		err_set_nomem(err);
		return NULL;
	}
	file->image.fd = -1;
	if (options)
		ok = options_check(&options->options, err) &&
		     options_copy(&options->options, &file->options, err);
	else
		options_init(&file->options);
	if (ok)
		return file;
	free(file);
	return NULL;
}

/* Notes where a file is that will be opened; path NULL: not known. */
static bool api_place(struct eh2sframe_file *file, const char *path, struct err *err)
{
	file->input = calloc(1, sizeof(*file->input));
	if (!file->input)
		return err_set_nomem(err);
	/* If the path does not exist, opening it says so. */
	file->input->path = path ? realpath(path, NULL) : NULL;
	return true;
}

/* Notes the file as it was before it was read. */
static bool api_was(struct eh2sframe_file *file, bool opened)
{
	file->input->fd = file->image.fd;
	if (opened)
		file->input->was = file->image.st;
	return opened;
}

/* Ends opening a file: returns it if ok, else closes it. */
static struct eh2sframe_file *api_file_opened(struct eh2sframe_file *file, bool ok,
    const struct err *err, struct eh2sframe_error *error)
{
	if (api_return(ok, err, error))
		return file;
	eh2sframe_close(file);
	return NULL;
}

struct eh2sframe_file *eh2sframe_open_path(const char *path,
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_file *file = api_file_new(path, options, &err);
	bool ok = file && api_place(file, path, &err) &&
		  api_was(file, image_open(path, &file->image, &err));

	return api_file_opened(file, ok, &err, error);
}

struct eh2sframe_file *eh2sframe_open_fd(int fd, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_file *file = api_file_new(name, options, &err);
	bool ok = file && api_place(file, NULL, &err) &&
		  api_was(file, image_open_fd(fd, name, &file->image, &err));

	return api_file_opened(file, ok, &err, error);
}

struct eh2sframe_file *eh2sframe_open_memory(const void *bytes, size_t size,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_file *file =
	    api_file_new(name && (bytes || size == 0), options, &err);
	bool ok = file && image_open_memory(bytes, size, name, &file->image, &err);

	return api_file_opened(file, ok, &err, error);
}

void eh2sframe_close(struct eh2sframe_file *file)
{
	if (!file)
		return;
	image_close(&file->image);
	free(file->made);
	if (file->input)
		free(file->input->path);
	free(file->input);
	options_deinit(&file->options);
	free(file);
}

bool api_take(
    bool ok, struct install *install, void **bytes, size_t *size, struct err *err)
{
	ok = ok && newfile_take(&install->output, bytes, size, err);
	newfile_abort(&install->output);
	return ok;
}

bool eh2sframe_file_remove_path(
    const struct eh2sframe_file *file, const char *out, struct eh2sframe_error *error)
{
	struct install install = {0};
	struct err err = {0};
	bool ok = api_given(file && out, &err);

	if (ok) {
		api_install(file, NULL, &install);
		ok = install_original(&install, &file->image, &file->options, out, &err);
	}
	return api_return(ok, &err, error);
}

bool eh2sframe_file_remove_memory(const struct eh2sframe_file *file, void **bytes,
    size_t *size, struct eh2sframe_error *error)
{
	struct install install = {0};
	struct err err = {0};
	bool ok = api_given(file && bytes && size, &err);

	if (ok) {
		ok = install_original(&install, &file->image, &file->options, NULL, &err);
		ok = api_take(ok, &install, bytes, size, &err);
	}
	return api_return(ok, &err, error);
}
