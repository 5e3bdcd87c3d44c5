/* SPDX-License-Identifier: MIT */
/* Finds the note that names a file (GNU, NT_GNU_BUILD_ID). */
#include "gen/elf/image.h"

#include <string.h>

#include "base/num.h"
#include "base/rd.h"

/* Notes follow each other, padded to 4 bytes; those padded to 8 are of another type. */
static bool id_in_notes(const struct image *image, const uint8_t *data, uint64_t size,
    struct image_build_id *id)
{
	struct rd rd;

	rd_init(&rd, data, (size_t)size, image->big_endian);
	while (!rd_at_end(&rd)) {
		uint32_t name_size = rd_u32(&rd), desc_size = rd_u32(&rd);
		uint32_t type = rd_u32(&rd);
		const uint8_t *name = rd_skip(&rd, ((uint64_t)name_size + 3) / 4 * 4);
		const uint8_t *desc = rd_skip(&rd, desc_size);

		if (rd.failed)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof(ELF_NOTE_GNU) &&
		    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 && desc_size) {
			*id = (struct image_build_id){desc, desc_size};
			return true;
		}
		rd_skip(&rd, (4 - desc_size % 4) % 4);
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
