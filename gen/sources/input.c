/* SPDX-License-Identifier: MIT */
/* Opens files, and answers for linked files and objects alike. */
#include "gen/sources/input.h"

#include <errno.h>

#include "gen/elf/object/object.h"

static bool open_from(const struct image_from *from, struct image *image, struct err *err)
{
	if (!image_load(from, image, err))
		return false;
	if (image->ehdr.e_type == ET_REL ? object_open(image, err)
					 : image_join_eh_frames(image, err))
		return true;
	image_close(image);
	return false;
}

bool image_open(const char *path, struct image *image, struct err *err)
{
	const struct image_from from = {.name = path, .fd = -1};

	return open_from(&from, image, err);
}

bool image_open_fd(int fd, const char *name, struct image *image, struct err *err)
{
	const struct image_from from = {.name = name, .fd = fd};

	if (fd < 0) {
		errno = EBADF;
		return err_set_errno(err, "cannot open");
	}
	if (!open_from(&from, image, err))
		return false;
	image->shared_fd = true;
	return true;
}

bool image_open_ours(int fd, const char *name, struct image *image, struct err *err)
{
	const struct image_from from = {.name = name, .fd = fd, .ours = true};

	return open_from(&from, image, err);
}

bool image_open_memory(const void *bytes, size_t size, const char *name,
    struct image *image, struct err *err)
{
	const struct image_from from = {
	    .name = name, .fd = -1, .bytes = bytes, .size = size};

	/* Without bytes it would be opened by its name. */
	if (!size)
		return err_set(err, ERR_UNSUPPORTED,
		    "not an ELF file: 0 bytes are less than an ELF header");
	return open_from(&from, image, err);
}

bool image_open_original(const struct image *of, uint64_t size,
    const struct image_patch *patches, size_t n_patches, struct image *image,
    struct err *err)
{
	const struct image_from from = {.name = of->path,
	    .fd = of->fd,
	    .size = of->fd < 0 ? of->size : 0,
	    .original = of,
	    .original_size = size,
	    .patches = patches,
	    .n_patches = n_patches};

	if (!open_from(&from, image, err))
		return false;
	image->shared_fd = of->shared_fd;
	return true;
}

void image_close(struct image *image)
{
	object_free(image->object);
	image_unload(image);
}

bool image_is_code(const struct image *image, uint64_t addr, uint64_t len)
{
	return image->object ? object_is_code(image, addr, len)
			     : image_code_segment(image, addr, len) != NULL;
}

bool image_eh_frame(const struct image *image, struct cfi_section *section, bool *found,
    uint64_t *hdr_size, struct err *err)
{
	const struct object *object = image->object;

	if (!object)
		return image_linked_eh_frame(image, section, found, hdr_size, err);
	*section = (struct cfi_section){.data = object->cfi,
	    .size = object->cfi_size,
	    .addr = object->cfi_addr,
	    .big_endian = image->big_endian,
	    .addr_size = 8};
	*found = object->cfi_size > 0;
	if (hdr_size)
		*hdr_size = 0;
	return true;
}

bool image_sframe(const struct image *image, const uint8_t **data, size_t *size,
    uint64_t *addr, struct err *err)
{
	const struct object *object = image->object;

	if (!object)
		return image_linked_sframe(image, data, size, addr, err);
	*data = object->sframe;
	*size = object->sframe_size;
	*addr = object->sframe_addr;
	*err = object->sframe_err;
	return err->kind == ERR_NONE;
}
