/* SPDX-License-Identifier: MIT */
/* Which ELF images are in memory, and what they are called. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "gen/memory/memory_weight.h"

/* What Linux puts behind the name of a file that is gone. */
static const char DELETED[] = " (deleted)";
/* Compilers and linkers write some hundred bytes of notes. */
enum { IMAGES_MAX_NOTES = 4096 };

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

/* A hash of what tells builds apart, where no inode does. Notes have the build-id. */
static uint64_t images_hash(
    const struct memory *memory, const struct memory_headers *headers)
{
	const struct image *head = &headers->head;
	uint8_t notes[IMAGES_MAX_NOTES];
	uint64_t parts[4] = {headers->phoff, headers->shoff,
	    (uint64_t)headers->shnum << 16 | headers->shstrndx,
	    hash_bytes(headers->bytes.data, headers->bytes.size)};
	size_t used = 0;
	struct err err;

	for (size_t i = 0; i < head->n_phdrs; i++) {
		const GElf_Phdr *phdr = &head->phdrs[i];
		const uint64_t addr = headers->bias + phdr->p_vaddr;
		size_t n = sizeof(notes) - used;

		if (phdr->p_filesz < n)
			n = (size_t)phdr->p_filesz;
		if (phdr->p_type == PT_NOTE && memory_have(memory, addr, n) == n &&
		    memory_read(memory, addr, notes + used, n, &err))
			used += n;
	}
	parts[2] += hash_bytes(notes, used);
	return hash_bytes((const uint8_t *)parts, sizeof(parts));
}

/* Headers that were read: whether they are of an image, and which one it is. */
static bool images_know(struct memory *memory, const struct memory_headers *headers,
    size_t named, struct memory_image *image, bool *is, struct err *err)
{
	*is = images_is_loaded(memory, headers, named);
	if (!*is)
		return true;
	image->hash = image->device || image->inode ? 0 : images_hash(memory, headers);
	return memory_weigh_image(memory, headers, err);
}

/* *is: whether there is an image at its base. named: the index of its name, or n_names. */
static bool images_look(struct memory *memory, size_t named, struct memory_image *image,
    bool *is, struct err *err)
{
	struct memory_headers headers;
	struct err why = {0};
	uint8_t magic[SELFMAG];
	bool ok;

	*is = false;
	if (memory_have(memory, image->base, SELFMAG) == SELFMAG) {
		/* Pages of some devices cannot be read. */
		if (!memory_read(memory, image->base, magic, SELFMAG, &why))
			return !memory_ended(memory, err);
		if (memcmp(magic, ELFMAG, SELFMAG) != 0)
			return true;
		if (memory_headers_read(memory, image->base, &headers, &why)) {
			ok = images_know(memory, &headers, named, image, is, err);
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
	/* Who asks for it gets to know what is wrong. Nothing tells it from others of its name. */
	image->hash = image->base;
	*is = named < memory->n_names && images_has_code(memory, named);
	return true;
}

/* Adds the image at an address, if there is one. Its name comes later. */
static bool images_add(
    struct memory *memory, uint64_t base, size_t named, struct err *err)
{
	const struct memory_range *range = memory_range_at(memory, base);
	struct memory_image image = {.base = base};
	bool is;

	if (named < memory->n_names)
		image.file = memory->names[named].name;
	if (range) {
		image.device = range->device;
		image.inode = range->inode;
	}
	if (!images_look(memory, named, &image, &is, err))
		return false;
	if (!is)
		return true;
	if (!vec_reserve(&memory->images, &memory->cap_images, memory->n_images + 1))
		return err_set_nomem(err);
	memory->images[memory->n_images++] = image;
	return true;
}

/* Whether both have a name, and which stands first. */
static int images_by_file(const struct memory_image *x, const struct memory_image *y)
{
	return x->file && y->file ? strcmp(x->file, y->file)
				  : (x->file != NULL) - (y->file != NULL);
}

static int images_by_build(const void *a, const void *b)
{
	const struct memory_image *x = a, *y = b;
	int order = images_by_file(x, y);

	if (!order)
		order = search_order(&x->device, &y->device);
	if (!order)
		order = search_order(&x->inode, &y->inode);
	return order ? order : search_order(&x->hash, &y->hash);
}

/* The lowest address of several comes first. */
static int images_by_build_base(const void *a, const void *b)
{
	const struct memory_image *x = a, *y = b;
	int order = images_by_build(x, y);

	return order ? order : search_order(&x->base, &y->base);
}

static int images_by_name(const void *a, const void *b)
{
	const struct memory_image *x = a, *y = b;
	int order = images_by_file(x, y);

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
	struct memory_image *images = memory->images;
	size_t n = 0;

	qsort(images, memory->n_images, sizeof(*images), images_by_build_base);
	for (size_t i = 0; i < memory->n_images; i++)
		if (n == 0 || !images[i].file ||
		    images_by_build(&images[n - 1], &images[i]) != 0)
			images[n++] = images[i];
	memory->n_images = n;
}

/* Whether an image has to be told from another one. A mapping may be called as if it had an address. */
static bool images_is_ambiguous(const struct memory_image *image, bool first)
{
	const char *at = strrchr(image->file, '@');

	return (!first && strcmp(image->file, image[-1].file) == 0) ||
	       strncmp(image->file, "[0x", 3) == 0 ||
	       (at && strncmp(at, "@0x", 3) == 0 && !strchr(at, '/'));
}

/* Gives each image a name that no other one has. */
static bool images_name(struct memory *memory)
{
	size_t unnamed = 0;

	qsort(memory->images, memory->n_images, sizeof(*memory->images), images_by_name);
	for (size_t i = 0; i < memory->n_images; i++) {
		struct memory_image *image = &memory->images[i];
		int n = 0;

		unnamed += !image->file;
		if (!image->file)
			n = asprintf(&image->name, "[0x%" PRIx64 "]", image->base);
		else if (images_is_ambiguous(image, i == unnamed))
			n = asprintf(
			    &image->name, "%s@0x%" PRIx64, image->file, image->base);
		else
			image->name = strdup(image->file);
		if (n < 0)
			image->name = NULL;
		if (!image->name)
			return false;
	}
	qsort(memory->images, memory->n_images, sizeof(*memory->images), images_by_base);
	return true;
}

bool memory_find_images(struct memory *memory, struct err *err)
{
	memory_weigh(memory);
	for (size_t i = 0; i < memory->n_names; i++)
		if (memory->names[i].offset == 0 &&
		    !images_add(memory, memory->names[i].start, i, err))
			return false;
	for (size_t i = 0; i < memory->n_ranges; i++)
		if (!memory_name_at(memory, memory->ranges[i].start) &&
		    !images_add(memory, memory->ranges[i].start, memory->n_names, err))
			return false;
	if (memory->n_images == 0)
		return true;
	images_once(memory);
	return images_name(memory) || err_set_nomem(err);
}

/* Whether a name is the first bytes of the other one, apart from the mark of a file that is gone. */
static bool images_is(const char *name, const char *other, size_t length)
{
	return strncmp(name, other, length) == 0 &&
	       (name[length] == '\0' || strcmp(name + length, DELETED) == 0);
}

/* Whether the last part of an image's name is that. */
static bool images_ends(const struct memory_image *image, const char *name, size_t length)
{
	const char *slash = image->file ? strrchr(image->file, '/') : NULL;

	return slash && !memchr(name, '/', length) && images_is(slash + 1, name, length);
}

/* The image at the address that is behind a name. */
static const struct memory_image *images_addressed(
    const struct memory *memory, const char *name)
{
	const char *at = strrchr(name, '@');
	const struct memory_image *image;
	uint64_t base;
	size_t i;
	char *end;

	if (!at || strncmp(at, "@0x", 3) != 0)
		return NULL;
	base = strtoull(at + 1, &end, 16);
	i = search_list_from(memory->images, memory->n_images, base, base);
	if (*end || i == memory->n_images || memory->images[i].base != base)
		return NULL;
	image = &memory->images[i];
	return image->file && (images_is(image->file, name, (size_t)(at - name)) ||
				  images_ends(image, name, (size_t)(at - name)))
		   ? image
		   : NULL;
}

static const struct memory_image *images_named(
    const struct memory *memory, const char *name)
{
	const struct memory_image *found;

	for (size_t i = 0; i < memory->n_images; i++)
		if (strcmp(memory->images[i].name, name) == 0)
			return &memory->images[i];
	found = images_addressed(memory, name);
	for (size_t i = 0; !found && i < memory->n_images; i++)
		if (memory->images[i].file &&
		    images_is(memory->images[i].file, name, strlen(name)))
			found = &memory->images[i];
	return found;
}

const struct memory_image *memory_image_find(
    const struct memory *memory, const char *name, struct err *err)
{
	const struct memory_image *found = images_named(memory, name);
	char *real = found ? NULL : realpath(name, NULL);

	if (!found && real)
		found = images_named(memory, real);
	free(real);
	for (size_t i = 0; !found && i < memory->n_images; i++)
		if (images_ends(&memory->images[i], name, strlen(name)))
			found = &memory->images[i];
	if (!found)
		err_set(err, ERR_IO,
		    "%s has no code of this name mapped; --report without names lists "
		    "what it has",
		    memory->shown);
	return found;
}
