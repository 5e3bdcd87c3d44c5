/* SPDX-License-Identifier: MIT */
/* Reads SHT_RELR. */
#include "base/rd.h"
#include "gen/elf/image.h"

enum { RELR_WORD = 8, RELR_BITS = 63 };

bool image_relr_each(const struct image *image, const struct image_section *section,
    bool (*note)(void *context, uint64_t addr), void *context)
{
	uint64_t next = 0;
	struct rd rd;

	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	while (rd.size - rd.pos >= RELR_WORD) {
		uint64_t entry = rd_u64(&rd);

		if (!(entry & 1)) {
			if (!note(context, entry))
				return false;
			next = entry + RELR_WORD;
			continue;
		}
		for (unsigned int bit = 0; bit < RELR_BITS; bit++)
			if (entry >> (bit + 1) & 1 &&
			    !note(context, next + (uint64_t)bit * RELR_WORD))
				return false;
		next += (uint64_t)RELR_BITS * RELR_WORD;
	}
	return true;
}
