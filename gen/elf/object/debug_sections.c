/* SPDX-License-Identifier: MIT */
/* The .debug_frame sections of an object as one. */
#include <inttypes.h>
#include <stdlib.h>

#include "gen/elf/object/internal.h"

/* The section has no address of its own, and its records refer to it: they get the place in
 * the copy, and so do those of the other sections. */
static bool debug_relocate(
    struct image *image, size_t section, uint64_t base, size_t size, struct err *err)
{
	struct object_debug *debug = &image->object->debug;
	struct object_relocs relocs;

	if (!object_relocs_open(image, section, &relocs, err))
		return false;
	relocs.size = size;
	return object_relocate(&relocs, debug->data, 0, base, &debug->links, err);
}

static bool debug_copy(struct image *image, struct err *err)
{
	struct object_debug *debug = &image->object->debug;
	struct image_debug_frame frame;
	uint64_t base = 0;

	for (size_t i = 1; i < image->n_sections; i++) {
		GElf_Shdr *hdr = &image->sections[i].hdr;
		const uint64_t addr = hdr->sh_addr;
		bool ok;

		if (!image_is_debug_frame(&image->sections[i]))
			continue;
		if (!image_debug_frame_at(image, i, &frame, err) ||
		    !image_debug_frame_read(image, &frame, debug->data + base, err))
			return false;
		hdr->sh_addr = base;
		ok = debug_relocate(image, i, base, frame.size, err);
		hdr->sh_addr = addr;
		if (!ok)
			return false;
		base += frame.size;
	}
	return object_links_sort(&debug->links, err);
}

static bool debug_read(struct image *image, struct err *err)
{
	struct object_debug *debug = &image->object->debug;
	struct image_debug_frames frames;

	if (!image_debug_frames_find(image, &frames, err))
		return false;
	if (!frames.size)
		return true;
	debug->data = malloc(frames.size);
	if (!debug->data)
		return err_set_nomem(err);
	debug->size = frames.size;
	return debug_copy(image, err);
}

void object_debug_read(struct image *image)
{
	struct object_debug *debug = &image->object->debug;

	if (debug_read(image, &debug->err))
		debug->err.kind = ERR_NONE;
	else
		debug->size = 0;
}
