/* SPDX-License-Identifier: MIT */
/*
 * Headers may name the same bytes of a file as often as there is room for headers. So bytes are added up where a file is
 * opened, and whoever reads all of one kind later reads no more than a few times the file.
 */
#include <inttypes.h>

#include "base/num.h"
#include "gen/elf/image.h"

/* Limit of the bytes that one kind of header may name, as a multiple of the file's. Segments share pages at
 * their borders, and a section's bytes can be another's, too; no linker comes near. */
enum { MAX_TIMES = 4 };

struct sum {
	const char *what;
	uint64_t left; /* bytes that further headers may name */
};

/* Takes the bytes of header i; what is not inside of the file is read by nobody. */
static bool sum_add(const struct image *image, struct sum *sum, size_t i, uint64_t off,
    uint64_t size, struct err *err)
{
	if (!num_range_inside(off, size, image->size))
		return true;
	if (size > sum->left)
		return err_set(err, ERR_MALFORMED,
		    "%s headers up to %zu name more than %d times the bytes of the file "
		    "(0x%zx), so the same ones "
		    "again and again; rebuild the file",
		    sum->what, i, MAX_TIMES, image->size);
	sum->left -= size;
	return true;
}

bool image_check_sums(const struct image *image, struct err *err)
{
	const uint64_t most = (uint64_t)image->size * MAX_TIMES;
	struct sum sections = {"section", most}, loads = {"PT_LOAD", most},
		   notes = {"PT_NOTE", most};

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->data && !sum_add(image, &sections, i, section->hdr.sh_offset,
					 section->hdr.sh_size, err))
			return false;
	}
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if ((phdr->p_type == PT_LOAD && !sum_add(image, &loads, i, phdr->p_offset,
						    phdr->p_filesz, err)) ||
		    (phdr->p_type == PT_NOTE &&
			!sum_add(image, &notes, i, phdr->p_offset, phdr->p_filesz, err)))
			return false;
	}
	return true;
}
