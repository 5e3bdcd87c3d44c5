/* SPDX-License-Identifier: MIT */
/* Finds the note that names a file: that of GNU (NT_GNU_BUILD_ID), or that of Go's linker. */
#include "gen/elf/image.h"

#include <string.h>

#include "base/num.h"
#include "base/rd.h"

/* Notes follow each other, padded to 4 bytes; those padded to 8 are of another type. */
bool image_note_next(struct rd *rd, struct image_note *note)
{
	uint32_t name_size;

	if (rd_at_end(rd))
		return false;
	name_size = rd_u32(rd);
	note->size = rd_u32(rd);
	note->type = rd_u32(rd);
	note->name = (const char *)rd_skip(rd, ((uint64_t)name_size + 3) / 4 * 4);
	note->name_size = name_size;
	note->off = rd->pos;
	note->desc = rd_skip(rd, note->size);
	if (rd->failed)
		return false;
	if (!rd_at_end(rd))
		rd_skip(rd, (4 - note->size % 4) % 4);
	return true;
}

bool image_note_is(const struct image_note *note, const char *name, uint32_t type)
{
	return note->type == type && note->name_size == strlen(name) + 1 &&
	       memcmp(note->name, name, note->name_size) == 0;
}

enum { NOTE_GO_BUILD_ID = 4 };

/* Go writes its name with two NULs, which other writers count as padding. */
static bool note_names_build(const struct image_note *note, bool of_go)
{
	if (!of_go)
		return image_note_is(note, ELF_NOTE_GNU, NT_GNU_BUILD_ID);
	return note->type == NOTE_GO_BUILD_ID && note->name_size == 4 &&
	       memcmp(note->name, "Go\0", 4) == 0;
}

static bool id_in_notes(const struct image *image, const uint8_t *data, uint64_t size,
    bool of_go, struct image_build_id *id)
{
	struct image_note note;
	struct rd rd;

	rd_init(&rd, data, (size_t)size, image->big_endian);
	while (image_note_next(&rd, &note)) {
		if (!note_names_build(&note, of_go) || !note.size)
			continue;
		*id = (struct image_build_id){note.desc, note.size};
		return true;
	}
	return false;
}

/* By section first: in a separate debug file, segments are of the program's file. */
static bool id_in_image(const struct image *image, bool of_go, struct image_build_id *id)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->hdr.sh_type == SHT_NOTE && section->data &&
		    id_in_notes(image, section->data, section->hdr.sh_size, of_go, id))
			return true;
	}
	for (size_t i = 0; !image->n_sections && i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_NOTE &&
		    num_range_inside(phdr->p_offset, phdr->p_filesz, image->size) &&
		    id_in_notes(
			image, image->bytes + phdr->p_offset, phdr->p_filesz, of_go, id))
			return true;
	}
	return false;
}

bool image_build_id(const struct image *image, struct image_build_id *id)
{
	return id_in_image(image, false, id);
}

bool image_go_build_id(const struct image *image, struct image_build_id *id)
{
	return id_in_image(image, true, id);
}
