/* SPDX-License-Identifier: MIT */
/* Finds the note that names a file (NT_GNU_BUILD_ID). */
#include "gen/elf/image.h"

#include <string.h>

#include "base/num.h"
#include "base/rd.h"

/* A note, borrowed from the file. */
struct note {
	uint32_t type;
	const char *name;
	size_t name_size; /* with its zero */
	const uint8_t *desc;
	size_t size; /* bytes of desc */
};

/* Notes follow each other, padded to 4 bytes; those padded to 8 are of another type. */
static bool note_next(struct rd *rd, struct note *note)
{
	uint32_t name_size;

	if (rd_at_end(rd))
		return false;
	name_size = rd_u32(rd);
	note->size = rd_u32(rd);
	note->type = rd_u32(rd);
	note->name = (const char *)rd_skip(rd, ((uint64_t)name_size + 3) / 4 * 4);
	note->name_size = name_size;
	note->desc = rd_skip(rd, note->size);
	if (rd->failed)
		return false;
	if (!rd_at_end(rd))
		rd_skip(rd, (4 - note->size % 4) % 4);
	return true;
}

static bool note_is_build_id(const struct note *note)
{
	return note->type == NT_GNU_BUILD_ID && note->name_size == sizeof(ELF_NOTE_GNU) &&
	       memcmp(note->name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0;
}

static bool id_in_notes(const struct image *image, const uint8_t *data, uint64_t size,
    struct image_build_id *id)
{
	struct note note;
	struct rd rd;

	rd_init(&rd, data, (size_t)size, image->big_endian);
	while (note_next(&rd, &note)) {
		if (!note_is_build_id(&note) || !note.size)
			continue;
		*id = (struct image_build_id){note.desc, note.size};
		return true;
	}
	return false;
}

/* By section first: in a separate debug file, segments are of the program's file. */
bool image_build_id(const struct image *image, struct image_build_id *id)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->hdr.sh_type == SHT_NOTE && section->data &&
		    id_in_notes(image, section->data, section->hdr.sh_size, id))
			return true;
	}
	for (size_t i = 0; !image->n_sections && i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_NOTE &&
		    num_range_inside(phdr->p_offset, phdr->p_filesz, image->size) &&
		    id_in_notes(image, image->bytes + phdr->p_offset, phdr->p_filesz, id))
			return true;
	}
	return false;
}
