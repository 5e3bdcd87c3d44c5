/* SPDX-License-Identifier: MIT */
/* The public interface: conversions, and writing what they made. */
#include "gen/lib/api.h"

#include <stdlib.h>
#include <string.h>

static struct eh2sframe_result *api_result_new(
    const struct eh2sframe_file *file, struct err *err)
{
	struct eh2sframe_result *result;

	if (!api_given(file, err))
		return NULL;
	result = calloc(1, sizeof(*result));
	if (!result) {
		err_set_nomem(err);
		return NULL;
	}
	convert_begin(&result->conv, &file->image, &file->options);
	result->file = file;
	api_install(file, result, &result->conv.install);
	return result;
}

/* Frees a result that failed. */
static struct eh2sframe_result *api_converted(struct eh2sframe_result *result, bool ok,
    const struct err *err, struct eh2sframe_error *error)
{
	if (api_return(ok, err, error))
		return result;
	eh2sframe_result_free(result);
	return NULL;
}

struct eh2sframe_result *eh2sframe_convert(
    const struct eh2sframe_file *file, const char *out, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_result *result = api_result_new(file, &err);
	bool ok = result && (out ? convert_write(&result->conv, out, &err)
				 : convert_generate(&result->conv, &err));

	return api_converted(result, ok, &err, error);
}

void eh2sframe_result_free(struct eh2sframe_result *result)
{
	if (!result)
		return;
	/* Names are borrowed from the image. */
	symbols_deinit(&result->symbols);
	convert_deinit(&result->conv);
	free(result);
}

bool eh2sframe_result_check(
    const struct eh2sframe_result *result, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(result, &err) && convert_worthwhile(&result->conv, &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_result_section(struct eh2sframe_result *result, uint64_t address,
    void **bytes, size_t *size, struct eh2sframe_error *error)
{
	const struct wr *made;
	struct err err = {0};
	bool ok = api_given(result && bytes && size, &err) &&
		  convert_section(&result->conv, address, &err);
	/* A copy, because the next call fills in other function starts. */
	void *copy = ok ? malloc(result->conv.bytes.size + 1) : NULL;

	if (ok && !copy)
		ok = err_set_nomem(&err);
	if (!api_return(ok, &err, error))
		return false;
	made = &result->conv.bytes;
	memcpy(copy, made->data, made->size);
	*bytes = copy;
	*size = made->size;
	return true;
}

bool eh2sframe_result_section_path(struct eh2sframe_result *result, uint64_t address,
    const char *out, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(result && out, &err) &&
		  convert_write_section(&result->conv, address, out, &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_result_write_path(
    struct eh2sframe_result *result, const char *out, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok =
	    api_given(result && out, &err) && convert_write(&result->conv, out, &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_result_write_memory(struct eh2sframe_result *result, void **bytes,
    size_t *size, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(result && bytes && size, &err);

	if (ok) {
		ok = convert_write(&result->conv, NULL, &err);
		ok = api_take(ok, &result->conv.install, bytes, size, &err);
	}
	return api_return(ok, &err, error);
}
