/* SPDX-License-Identifier: MIT */
/*
 * Sections of CFI whose headers lead out of the file, or into another section. They are sources that are left out, and
 * what else describes the code is converted. The output is longer than the input, so that such a
 * range could have bytes there, which are not CFI.
 */
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "gen/insert/internal.h"

static bool is_source(const char *name)
{
	static const char go[] = ".gopclntab";
	const size_t length = strlen(name);

	/* Linkers prefix it in position-independent files. */
	return length >= sizeof(go) - 1 && !strcmp(name + length - (sizeof(go) - 1), go);
}

bool insert_is_lost(const struct image *image, size_t i)
{
	const struct image_section *section = &image->sections[i];

	return image_debug_frame_is_lost(image, i) ||
	       (!section->data && section->hdr.sh_size &&
		   section->hdr.sh_type != SHT_NULL &&
		   section->hdr.sh_type != SHT_NOBITS && is_source(section->name));
}

GElf_Shdr insert_lost_header(const struct image *image, size_t i)
{
	GElf_Shdr hdr = image->sections[i].hdr;

	if (!(hdr.sh_flags & SHF_ALLOC) && insert_is_lost(image, i))
		hdr.sh_type = SHT_NOBITS;
	return hdr;
}

bool insert_lost_stay(
    const struct image *image, const struct insert_plan *plan, struct err *err)
{
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const GElf_Shdr hdr = section->hdr;

		if (hdr.sh_flags & SHF_ALLOC && insert_is_lost(image, i) &&
		    num_range_inside(hdr.sh_offset, hdr.sh_size, plan->file_size))
			return err_set(err, ERR_MALFORMED,
			    "%s (section %zu, 0x%" PRIx64 " bytes at offset 0x%" PRIx64
			    ") reaches past the end of the file (0x%zx), but not of the "
			    "longer output; rebuild the file",
			    section->name, i, hdr.sh_size, hdr.sh_offset, image->size);
	}
	return true;
}
