/* SPDX-License-Identifier: MIT */
/*
 * A kernel finds its own .sframe by symbols that its linker script puts around it.
 * Nothing behind the link can move them, so a section elsewhere would be there and never
 * be read.
 */
#include <string.h>

#include "gen/insert/internal.h"

/* In the string table itself: faster than asking each symbol, and only a symbol of that
 * name puts it there. */
static bool kernel_has_name(const struct image_section *names, const char *name)
{
	size_t len = strlen(name) + 1, left = (size_t)names->hdr.sh_size;
	const uint8_t *at = names->data;

	while (left >= len && (at = memmem(at, left, name, len))) {
		if (at > names->data && at[-1] == '\0')
			return true;
		at++;
		left = (size_t)(names->data + names->hdr.sh_size - at);
	}
	return false;
}

bool insert_refuse_kernel(const struct image *image, struct err *err)
{
	static const char *const known[] = {"__start_sframe_header", "__start_sframe"};

	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		const struct image_section *names;

		if (hdr->sh_type != SHT_SYMTAB || hdr->sh_link >= image->n_sections)
			continue;
		names = &image->sections[hdr->sh_link];
		for (size_t j = 0; names->data && j < sizeof(known) / sizeof(known[0]);
		     j++)
			if (kernel_has_name(names, known[j]))
				return err_set(err, ERR_UNSUPPORTED,
				    "the file finds its .sframe by the linker's symbol "
				    "%s, as kernels do; convert vmlinux.o or each object "
				    "before the last link",
				    known[j]);
		return true;
	}
	return true;
}
