/* SPDX-License-Identifier: MIT */
/* Knows padding by its bytes. */
#include "gen/rows/padding.h"

#include <string.h>

/* The size of the filler that code begins with; 0 when it does with none. */
static uint64_t padding_filler(
    const struct arch *arch, const uint8_t *code, uint64_t size)
{
	for (size_t i = 0; i < arch->n_fillers; i++) {
		const struct arch_filler *filler = &arch->fillers[i];

		if (filler->size <= size && !memcmp(code, filler->bytes, filler->size))
			return filler->size;
	}
	return 0;
}

bool padding_only(
    const struct image *image, const struct arch *arch, uint64_t start, uint64_t end)
{
	const uint8_t *code = image_at_addr(image, start, end - start);
	uint64_t size;

	for (; code && start < end; start += size, code += size) {
		size = padding_filler(arch, code, end - start);
		if (!size)
			return false;
	}
	return code;
}
