/* SPDX-License-Identifier: MIT */
/*
 * All .debug_frame sections of a file as one (ld --unique, linker scripts). FDEs say by its
 * offset in their section where their CIE is, so these offsets are changed in the copy.
 */
#include <inttypes.h>

#include "base/num.h"
#include "base/rd.h"
#include "gen/elf/image.h"

/* Limit of the bytes of all sections together, decompressed, as a multiple of the file's. Those of compilers
 * become a few times as large, and a record in memory takes more than its bytes. */
enum { MAX_TIMES = 32 };

bool image_debug_frames_find(
    const struct image *image, struct image_debug_frames *frames, struct err *err)
{
	struct image_debug_frame frame;
	uint64_t size = 0;

	*frames = (struct image_debug_frames){0};
	for (size_t i = 1; i < image->n_sections; i++) {
		if (!image_is_debug_frame(&image->sections[i]))
			continue;
		if (!image_debug_frame_at(image, i, &frame, err))
			return false;
		frames->n++;
		size += frame.size;
	}
	if (size / MAX_TIMES <= image->size && num_size(size, &frames->size))
		return true;
	return err_set(err, ERR_MALFORMED,
	    "the .debug_frame sections have 0x%" PRIx64
	    " bytes when they are decompressed, more than %d times those of the file; "
	    "rebuild the file",
	    size, MAX_TIMES);
}

/* A section's copy among those of the others. */
struct part {
	uint8_t *data;
	size_t size;
	uint64_t base; /* where it begins in the copy of all */
	bool big_endian;
};

/* An offset that is outside of its section must not lead into another one. */
static void shift_cie(const struct part *part, size_t at, bool wide, uint64_t id)
{
	const uint64_t highest = wide ? UINT64_MAX : UINT32_MAX;

	if (id == highest)
		return;
	if (id >= part->size || id + part->base >= highest)
		id = highest - 1;
	else
		id += part->base;
	num_store(part->data + at, wide ? sizeof(uint64_t) : sizeof(uint32_t),
	    part->big_endian, id);
}

/* Shifts all records; false at one that does not end in the section, which is at *at. */
static bool shift_all(const struct part *part, uint64_t *at)
{
	struct rd rd;

	rd_init(&rd, part->data, part->size, part->big_endian);
	while (!rd_at_end(&rd)) {
		uint64_t len;
		struct rd id;
		size_t id_at;
		bool wide;

		*at = rd.pos;
		len = rd_u32(&rd);
		wide = len == UINT32_MAX;
		if (wide)
			len = rd_u64(&rd);
		id = rd;
		id_at = rd.pos;
		if (!rd_skip(&rd, len))
			return false;
		if (len >= (wide ? sizeof(uint64_t) : sizeof(uint32_t)))
			shift_cie(part, id_at, wide, wide ? rd_u64(&id) : rd_u32(&id));
	}
	return true;
}

bool image_debug_frames_read(const struct image *image,
    const struct image_debug_frames *frames, uint8_t *to, struct err *err)
{
	struct image_debug_frame frame;
	uint64_t base = 0, at;

	for (size_t i = 1; i < image->n_sections; i++) {
		struct part part = {.data = to + base, .base = base};

		if (!image_is_debug_frame(&image->sections[i]))
			continue;
		if (!image_debug_frame_at(image, i, &frame, err) ||
		    !image_debug_frame_read(image, &frame, part.data, err))
			return false;
		part.size = frame.size;
		part.big_endian = image->big_endian;
		base += frame.size;
		if (frames->n > 1 && !shift_all(&part, &at))
			return err_set(err, ERR_MALFORMED,
			    "%s (section %zu): the record at 0x%" PRIx64
			    " reaches past the end of the section, and there is another "
			    ".debug_frame; rebuild the file",
			    image->sections[i].name, i, at);
	}
	return true;
}
