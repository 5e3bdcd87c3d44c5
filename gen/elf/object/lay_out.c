/* SPDX-License-Identifier: MIT */
/* Gives each section of an object the address at which it would be loaded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/search.h"
#include "gen/elf/object/internal.h"

/*
 * Gap between two sections: more than any padding, so that nothing that belongs to one is
 * ever taken for the other's; and little enough that 100,000 sections
 * (-ffunction-sections) are within the reach of 32-bit distances.
 */
enum { LAYOUT_GAP = 256 };

/* Alignment matters to rules over the PC only, which know of no larger one. */
enum { LAYOUT_ALIGN = 64 };

bool object_reserve(struct object *object, uint64_t size, uint64_t *addr, struct err *err)
{
	uint64_t start, end;

	if (!num_align_up(object->end, LAYOUT_ALIGN, &start) ||
	    __builtin_add_overflow(start, size, &end) || end > INT64_MAX - LAYOUT_GAP)
		return err_set(err, ERR_MALFORMED, "the loaded sections are too large");
	*addr = start;
	object->end = end + LAYOUT_GAP;
	return true;
}

enum layout_kind {
	LAYOUT_CODE,
	LAYOUT_WRITABLE_CODE,
	LAYOUT_CONSTANTS,
	LAYOUT_DATA,
};

static enum layout_kind layout_kind_of(const struct image_section *section)
{
	const bool writable = section->hdr.sh_flags & SHF_WRITE;

	if (section->hdr.sh_flags & SHF_EXECINSTR)
		return writable ? LAYOUT_WRITABLE_CODE : LAYOUT_CODE;
	return writable ? LAYOUT_DATA : LAYOUT_CONSTANTS;
}

static bool layout_add(struct image *image, size_t i, struct err *err)
{
	struct object *object = image->object;
	GElf_Shdr *hdr = &image->sections[i].hdr;

	if (!object_reserve(object, hdr->sh_size, &hdr->sh_addr, err))
		return false;
	object->places[object->n_places++] =
	    (struct object_place){hdr->sh_addr, hdr->sh_size, i};
	return true;
}

/*
 * Lays out only sections with bytes in the file: nothing of CFI leads into zero-filled
 * memory, which may be as large as it likes.
 */
static bool layout_all(struct image *image, enum layout_kind kind, struct err *err)
{
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->data && section->hdr.sh_flags & SHF_ALLOC &&
		    layout_kind_of(section) == kind && !layout_add(image, i, err))
			return false;
	}
	return true;
}

/* Code and CFI first, so that their addresses, and with them every byte of the copy, do
 * not depend on whether there is an .sframe. Each kind in one piece, as linkers do it: a segment for each is all that has
 * to be searched. */
bool object_layout(struct image *image, struct err *err)
{
	struct object *object = image->object;

	object->end = OBJECT_BASE;
	object->places =
	    calloc(image->n_sections ? image->n_sections : 1, sizeof(*object->places));
	if (!object->places)
		return err_set_nomem(err);
	for (size_t i = 0; i < image->n_sections; i++)
		image->sections[i].hdr.sh_addr = 0;
	return layout_all(image, LAYOUT_CODE, err) &&
	       layout_all(image, LAYOUT_WRITABLE_CODE, err) &&
	       object_reserve(object, object->cfi_size, &object->cfi_addr, err) &&
	       layout_all(image, LAYOUT_CONSTANTS, err) &&
	       layout_all(image, LAYOUT_DATA, err);
}

const struct object_place *object_place_at(const struct object *object, uint64_t addr)
{
	size_t after = search_list_above(object->places, object->n_places, addr, addr);
	const struct object_place *place = after ? &object->places[after - 1] : NULL;

	return place && addr - place->addr < place->size ? place : NULL;
}

bool object_is_code(const struct image *image, uint64_t addr, uint64_t len)
{
	const struct object_place *place = object_place_at(image->object, addr);

	return place && num_range_inside(addr - place->addr, len, place->size) &&
	       image->sections[place->section].hdr.sh_flags & SHF_EXECINSTR;
}

/* The end of a range is that of the section it is in, so the last byte decides. */
const char *object_where(const struct image *image, uint64_t addr, char buf[OBJECT_WHERE])
{
	const struct object_place *place = NULL;

	if (image->object)
		place = object_place_at(image->object, addr);
	if (image->object && !place)
		place = object_place_at(image->object, addr - 1);
	if (place)
		snprintf(buf, OBJECT_WHERE, "%.70s+0x%" PRIx64,
		    image->sections[place->section].name, addr - place->addr);
	else
		snprintf(buf, OBJECT_WHERE, "0x%" PRIx64, addr);
	return buf;
}
