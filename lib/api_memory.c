/* SPDX-License-Identifier: MIT */
/* The public interface: images in memory. */
#include "include/eh2sframe-memory.h"

#include <stddef.h>
#include <stdlib.h>

#include "gen/memory/memory.h"
#include "lib/api.h"

struct eh2sframe_memory {
	struct memory memory;
};

/* Ends opening one: ok says how it went. */
static struct eh2sframe_memory *api_memory_end(struct eh2sframe_memory *memory, bool ok,
    const struct err *err, struct eh2sframe_error *error)
{
	if (api_return(ok, err, error))
		return memory;
	free(memory);
	return NULL;
}

static struct eh2sframe_memory *api_memory_new(bool given, struct err *err)
{
	struct eh2sframe_memory *memory = NULL;

	if (api_given(given, err)) {
		memory = calloc(1, sizeof(*memory));
		if (!memory)
			err_set_nomem(err);
	}
	return memory;
}

struct eh2sframe_memory *eh2sframe_open_process(int pid, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_memory *memory = api_memory_new(true, &err);
	bool ok = memory && memory_open_process(pid, &memory->memory, &err);

	return api_memory_end(memory, ok, &err, error);
}

struct eh2sframe_memory *eh2sframe_open_core(
    const char *path, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_memory *memory = api_memory_new(path, &err);
	bool ok = memory && memory_open_core(path, &memory->memory, &err);

	return api_memory_end(memory, ok, &err, error);
}

void eh2sframe_memory_close(struct eh2sframe_memory *memory)
{
	if (memory)
		memory_close(&memory->memory);
	free(memory);
}

bool eh2sframe_memory_image(
    const struct eh2sframe_memory *memory, size_t i, struct eh2sframe_memory_image *image)
{
	if (!memory || !image || image->struct_size < sizeof(*image) ||
	    i >= memory->memory.n_images)
		return false;
	image->name = memory->memory.images[i].name;
	image->address = memory->memory.images[i].base;
	return true;
}

struct eh2sframe_file *eh2sframe_memory_open(const struct eh2sframe_memory *memory,
    const char *name, const char *root, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_file *file = api_file_new(memory && name, options, &err);
	const struct memory_image *of =
	    file ? memory_image_find(&memory->memory, name, &err) : NULL;
	bool ok =
	    of && memory_image_open(&memory->memory, of, name, root, &file->image, &err);

	return api_file_opened(file, ok, &err, error);
}
