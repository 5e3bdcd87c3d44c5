/* SPDX-License-Identifier: MIT */
/* Which ELF images are in memory, and what they are called. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/memory/memory_weight.h"

/* What Linux puts behind the name of a file that is gone. */
static const char DELETED[] = " (deleted)";

/* Whether a file's mappings, the first of which is at, have code. */
static bool images_has_code(const struct memory *memory, size_t at)
{
	for (size_t i = at; i < memory->n_names; i++) {
		const struct memory_name *name = &memory->names[i];
		const struct memory_range *range = memory_range_at(memory, name->start);

		if (strcmp(name->name, memory->names[at].name) != 0 ||
		    (i > at && name->offset == 0))
			break;
		if (range && range->executable)
			return true;
	}
	return false;
}

/* Files are also mapped as data, by linkers and profilers. Then their code is elsewhere. A core by gdb
 * says of code that did not change only which file it is of. */
static bool images_is_loaded(
    const struct memory *memory, const struct memory_headers *headers, size_t named)
{
	const struct image *head = &headers->head;
	const struct memory_range *range;
	const struct memory_name *name;
	uint64_t code;

	if (head->first_code >= head->n_phdrs)
		return false;
	code = headers->bias + head->phdrs[head->first_code].p_vaddr;
	range = memory_range_at(memory, code);
	if (range)
		return range->executable;
	name = memory_name_at(memory, code);
	return named < memory->n_names && name &&
	       strcmp(name->name, memory->names[named].name) == 0;
}

/* *is: whether there is an image at base. named: the index of its name, or n_names. */
static bool images_look(
    struct memory *memory, uint64_t base, size_t named, bool *is, struct err *err)
{
	struct memory_headers headers;
	struct err why = {0};
	uint8_t magic[SELFMAG];
	bool ok;

	*is = false;
	if (memory_have(memory, base, SELFMAG) == SELFMAG) {
		/* Pages of some devices cannot be read. */
		if (!memory_read(memory, base, magic, SELFMAG, &why))
			return !memory_ended(memory, err);
		if (memcmp(magic, ELFMAG, SELFMAG) != 0)
			return true;
		if (memory_headers_read(memory, base, &headers, &why)) {
			*is = images_is_loaded(memory, &headers, named);
			ok = !*is || memory_weigh_image(memory, &headers, err);
			memory_headers_deinit(&headers);
			return ok;
		}
		if (why.kind == ERR_NOMEM) {
			*err = why;
			return false;
		}
		if (why.kind == ERR_IO && memory_ended(memory, err))
			return false;
	}
	/* Who asks for it gets to know what is wrong. */
	*is = named < memory->n_names && images_has_code(memory, named);
	return true;
}

static bool images_add(struct memory *memory, uint64_t base, const char *name)
{
	struct memory_image *image;

	if (!vec_reserve(&memory->images, &memory->cap_images, memory->n_images + 1))
		return false;
	image = &memory->images[memory->n_images];
	image->base = base;
	image->name = name ? strdup(name) : NULL;
	if (!name && asprintf(&image->name, "[0x%" PRIx64 "]", base) < 0)
		image->name = NULL;
	memory->n_images += image->name != NULL;
	return image->name;
}

static int images_by_name(const void *a, const void *b)
{
	const struct memory_image *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : search_order(&x->base, &y->base);
}

static int images_by_base(const void *a, const void *b)
{
	const struct memory_image *x = a, *y = b;

	return search_order(&x->base, &y->base);
}

/* A file that is loaded twice has the same CFI twice. */
static void images_once(struct memory *memory)
{
	size_t n = 0;

	if (memory->n_images == 0)
		return;
	qsort(memory->images, memory->n_images, sizeof(*memory->images), images_by_name);
	for (size_t i = 0; i < memory->n_images; i++)
		if (n == 0 ||
		    strcmp(memory->images[n - 1].name, memory->images[i].name) != 0)
			memory->images[n++] = memory->images[i];
		else
			free(memory->images[i].name);
	memory->n_images = n;
	qsort(memory->images, n, sizeof(*memory->images), images_by_base);
}

bool memory_find_images(struct memory *memory, struct err *err)
{
	bool ok = true, is;

	memory_weigh(memory);
	for (size_t i = 0; ok && i < memory->n_names; i++) {
		const struct memory_name *name = &memory->names[i];

		if (name->offset != 0)
			continue;
		ok = images_look(memory, name->start, i, &is, err);
		if (ok && is && !images_add(memory, name->start, name->name))
			ok = err_set_nomem(err);
	}
	for (size_t i = 0; ok && i < memory->n_ranges; i++) {
		const uint64_t start = memory->ranges[i].start;

		if (memory_name_at(memory, start))
			continue;
		ok = images_look(memory, start, memory->n_names, &is, err);
		if (ok && is && !images_add(memory, start, NULL))
			ok = err_set_nomem(err);
	}
	images_once(memory);
	return ok;
}

/* Whether a name is the other one, apart from the mark of a file that is gone. */
static bool images_is(const char *name, const char *other)
{
	size_t length = strlen(other);

	return strncmp(name, other, length) == 0 &&
	       (name[length] == '\0' || strcmp(name + length, DELETED) == 0);
}

static const struct memory_image *images_named(
    const struct memory *memory, const char *name)
{
	for (size_t i = 0; i < memory->n_images; i++)
		if (strcmp(memory->images[i].name, name) == 0)
			return &memory->images[i];
	for (size_t i = 0; i < memory->n_images; i++)
		if (images_is(memory->images[i].name, name))
			return &memory->images[i];
	return NULL;
}

const struct memory_image *memory_image_find(
    const struct memory *memory, const char *name, struct err *err)
{
	const struct memory_image *found = images_named(memory, name);
	char *real = found ? NULL : realpath(name, NULL);

	if (!found && real)
		found = images_named(memory, real);
	free(real);
	for (size_t i = 0; !found && !strchr(name, '/') && i < memory->n_images; i++) {
		const char *slash = strrchr(memory->images[i].name, '/');

		if (slash && images_is(slash + 1, name))
			found = &memory->images[i];
	}
	if (!found)
		err_set(err, ERR_IO,
		    "%s has no code of this name mapped; --report without names lists "
		    "what it has",
		    memory->shown);
	return found;
}
