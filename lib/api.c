/* SPDX-License-Identifier: MIT */
/*
 * The public interface: options, files, and what is made of them. Here is only what is
 * not the engine's: handles on the heap, errors of a layout that stays, and what is kept
 * between calls. What each function promises is in the header, and not said again.
 */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "lib/status.h"

bool api_tell(bool ok, const struct err *err, struct eh2sframe_error *error)
{
	/* The public one may be larger, never smaller. */
	_Static_assert(sizeof(error->text) >= sizeof(err->text), "messages are cut off");

	if (ok || !error)
		return ok;
	error->status = status_of(err->kind);
	memcpy(error->text, err->text, sizeof(err->text));
	return false;
}

bool api_given(bool all_given, struct err *err)
{
	return all_given ||
	       err_set(err, ERR_USAGE, "NULL was given in the place of something");
}

const char *eh2sframe_version(void)
{
	return EH2SFRAME_VERSION;
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

	return api_tell(ok, &err, error);
}

bool eh2sframe_options_check(
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(options, &err) && options_check(&options->options, &err);

	return api_tell(ok, &err, error);
}

void eh2sframe_options_on_temporary(struct eh2sframe_options *options,
    void (*told)(void *context, const char *path, bool exists), void *context)
{
	if (options)
		options->options.watch = (struct newfile_watch){told, context};
}

void eh2sframe_options_on_progress(struct eh2sframe_options *options,
    void (*told)(void *context, size_t done, size_t total), void *context)
{
	if (options)
		options->options.progress = (struct progress){told, context};
}

/* A file without an image yet; NULL with err set. */
static struct eh2sframe *api_new(const struct eh2sframe_options *options, struct err *err)
{
	struct eh2sframe *file = calloc(1, sizeof(*file));
	bool ok = true;

	if (!file) {
		err_set_nomem(err);
		return NULL;
	}
	/* The engine borrows options; these do not move, as the file does not. */
	file->conv.options = &file->options;
	file->conv.image.fd = -1;
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

/* Frees a file that could not be opened. */
static struct eh2sframe *api_opened(
    struct eh2sframe *file, bool ok, const struct err *err, struct eh2sframe_error *error)
{
	if (api_tell(ok, err, error))
		return file;
	eh2sframe_close(file);
	return NULL;
}

struct eh2sframe *eh2sframe_open_path(const char *path,
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe *file = api_given(path, &err) ? api_new(options, &err) : NULL;
	bool ok = file && image_open(path, &file->conv.image, &err);

	return api_opened(file, ok, &err, error);
}

struct eh2sframe *eh2sframe_open_fd(int fd, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe *file = api_given(name, &err) ? api_new(options, &err) : NULL;
	bool ok = file && image_open_fd(fd, name, &file->conv.image, &err);

	return api_opened(file, ok, &err, error);
}

struct eh2sframe *eh2sframe_open_memory(const void *bytes, size_t size, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool given = api_given(name && (bytes || size == 0), &err);
	struct eh2sframe *file = given ? api_new(options, &err) : NULL;
	bool ok = file && image_open_memory(bytes, size, name, &file->conv.image, &err);

	return api_opened(file, ok, &err, error);
}

/* Names are borrowed from an image that may be on its way out. */
static void api_forget_symbols(struct eh2sframe *file)
{
	symbols_deinit(&file->symbols);
	file->symbols_read = false;
}

void eh2sframe_close(struct eh2sframe *file)
{
	if (!file)
		return;
	api_forget_symbols(file);
	convert_deinit(&file->conv);
	options_deinit(&file->options);
	free(file);
}

bool eh2sframe_make(struct eh2sframe *file, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file, &err);

	if (ok) {
		/* Who asks for it is going to read rows, or wants more than one result.
		 */
		file->conv.keep = true;
		ok = convert_generate(&file->conv, &err);
	}
	return api_tell(ok, &err, error);
}

bool eh2sframe_judge(struct eh2sframe *file, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file, &err) && convert_generate(&file->conv, &err) &&
		  convert_worthwhile(&file->conv, &err);

	return api_tell(ok, &err, error);
}

bool eh2sframe_costs(struct eh2sframe *file, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file, &err) && convert_generate(&file->conv, &err) &&
		  convert_costs(&file->conv, &err);

	return api_tell(ok, &err, error);
}

bool eh2sframe_section(struct eh2sframe *file, uint64_t address, void **bytes,
    size_t *size, struct eh2sframe_error *error)
{
	const struct wr *made;
	struct err err = {0};
	bool ok = api_given(file && bytes && size, &err) &&
		  convert_section(&file->conv, address, &err);
	/* Given away as a copy: the engine's are filled in anew for another address. */
	void *copy = ok ? malloc(file->conv.bytes.size + 1) : NULL;

	if (ok && !copy)
		ok = err_set_nomem(&err);
	if (!api_tell(ok, &err, error))
		return false;
	made = &file->conv.bytes;
	memcpy(copy, made->data, made->size);
	*bytes = copy;
	*size = made->size;
	return true;
}

bool eh2sframe_section_path(struct eh2sframe *file, uint64_t address, const char *out,
    struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file && out, &err) &&
		  convert_write_section(&file->conv, address, out, &err);

	return api_tell(ok, &err, error);
}

bool eh2sframe_write_path(
    struct eh2sframe *file, const char *out, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file && out, &err);

	if (ok) {
		/* The image may be replaced by that of the original file. */
		api_forget_symbols(file);
		ok = convert_write(&file->conv, out, &err);
	}
	return api_tell(ok, &err, error);
}

/* The result of a call that wrote into memory. */
static bool api_take(
    struct eh2sframe *file, bool ok, void **bytes, size_t *size, struct err *err)
{
	ok = ok && newfile_take(&file->conv.install.output, bytes, size, err);
	/* Here it ends, as a path's does in the engine. */
	newfile_abort(&file->conv.install.output);
	return ok;
}

bool eh2sframe_write_memory(
    struct eh2sframe *file, void **bytes, size_t *size, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file && bytes && size, &err);

	if (ok) {
		api_forget_symbols(file);
		ok = convert_write(&file->conv, NULL, &err);
		ok = api_take(file, ok, bytes, size, &err);
	}
	return api_tell(ok, &err, error);
}

bool eh2sframe_remove_path(
    struct eh2sframe *file, const char *out, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file && out, &err) && convert_remove(&file->conv, out, &err);

	return api_tell(ok, &err, error);
}

bool eh2sframe_remove_memory(
    struct eh2sframe *file, void **bytes, size_t *size, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(file && bytes && size, &err);

	if (ok) {
		ok = convert_remove(&file->conv, NULL, &err);
		ok = api_take(file, ok, bytes, size, &err);
	}
	return api_tell(ok, &err, error);
}
