/* SPDX-License-Identifier: MIT */
/* Opens a section: all that a look-up does not check again is checked here. */
#include "walk/opened.h"

/* True if the version has the ABI, in the byte order of the section. */
static bool walk_knows_abi(unsigned int version, unsigned int abi, bool big_endian)
{
	if (abi == WALK_ABI_S390X)
		return version >= 2 && big_endian;
	if (abi == WALK_ABI_AARCH64_BE)
		return big_endian;
	return (abi == WALK_ABI_AARCH64 || abi == WALK_ABI_X86_64) && !big_endian;
}

/* Bits that the version does not define could change what the rest means. */
static bool walk_knows_flags(unsigned int version, unsigned int flags)
{
	unsigned int known = version == 1 ? WALK_SORTED | WALK_FRAME_POINTER
			     : version == 2
				 ? WALK_SORTED | WALK_FRAME_POINTER | WALK_PCREL
				 : WALK_SORTED | WALK_PCREL;

	return (flags & ~known) == 0;
}

/* Finds both tables; false when one is not inside the section. */
static bool walk_open_tables(struct walk_section *section, size_t size)
{
	const uint8_t *bytes = section->bytes;
	bool swap = section->swap;
	uint64_t header = WALK_HEADER_SIZE + (uint64_t)bytes[WALK_HEADER_AUX_LEN];
	uint64_t fdes = header + walk_load32(bytes + WALK_HEADER_FDE_OFF, swap);
	uint64_t fres = header + walk_load32(bytes + WALK_HEADER_FRE_OFF, swap);
	uint64_t fde_bytes, fre_bytes = walk_load32(bytes + WALK_HEADER_FRE_LEN, swap);

	section->n_fdes = walk_load32(bytes + WALK_HEADER_N_FDES, swap);
	fde_bytes = (uint64_t)section->n_fdes * walk_fde_bytes(section->version);
	if (fdes > size || fde_bytes > size - fdes || fres > size ||
	    fre_bytes > size - fres)
		return false;
	section->fdes = bytes + fdes;
	section->fres = bytes + fres;
	section->fres_size = (size_t)fre_bytes;
	return true;
}

/* True if the functions ascend, as a search needs it. */
static bool walk_sorted(const struct walk_section *section)
{
	uint32_t bytes = walk_fde_bytes(section->version);
	int64_t last = INT64_MIN;

	for (uint32_t i = 0; i < section->n_fdes; i++) {
		int64_t start = walk_start(section, WALK_OTHER, (uint64_t)i * bytes);

		if (start < last)
			return false;
		last = start;
	}
	return true;
}

/* Prepares one comparison that says that an address is in the text and not before the first function. */
static void walk_open_quick(struct walk_section *section)
{
	uint64_t first = section->address + (uint64_t)(section->fdes - section->bytes) +
			 (uint64_t)section->first;

	section->quick_start = first;
	if (first >= section->text_start && first < section->text_end)
		section->quick_size = section->text_end - first;
}

/*
 * Number and size of the pages of an index, up to two for each function. They are kept, so that
 * an index has the size that was said for it even when the bytes have changed since.
 */
static void walk_open_pages(struct walk_section *section)
{
	uint64_t n = section->n_fdes, span = walk_start_behind(section,
					  (n - 1) * walk_fde_bytes(section->version));

	while (span >> section->index_shift >= n * 2)
		section->index_shift++;
	if ((span >> section->index_shift) + 1 <= UINT32_MAX)
		section->n_pages = (uint32_t)(span >> section->index_shift) + 1;
}

/* Leaves a section half open when it returns false. */
static bool walk_open_checked(struct walk_section *section, size_t size, bool believe)
{
	const uint8_t *header = section->bytes;
	uint16_t one = 1, magic;
	bool big_host = *(const uint8_t *)&one == 0;

	if (size < WALK_HEADER_SIZE || section->text_end < section->text_start)
		return false;
	magic = walk_load16(header, false);
	section->swap = magic != WALK_MAGIC;
	if (section->swap && magic != __builtin_bswap16(WALK_MAGIC))
		return false;
	section->version = header[WALK_HEADER_VERSION];
	section->flags = header[WALK_HEADER_FLAGS];
	section->abi = header[WALK_HEADER_ABI];
	section->fixed_fp = header[WALK_HEADER_FIXED_FP];
	section->fixed_ra = header[WALK_HEADER_FIXED_RA];
	if (section->version < 1 || section->version > 3 ||
	    !walk_knows_flags(section->version, section->flags) ||
	    !walk_knows_abi(section->version, section->abi, section->swap ^ big_host) ||
	    !walk_open_tables(section, size) ||
	    !((believe && section->flags & WALK_SORTED) || walk_sorted(section)))
		return false;
	section->layout = WALK_OTHER;
	if (!section->swap && section->flags & WALK_PCREL)
		section->layout = section->version == 3 ? WALK_V3_PCREL : WALK_V2_PCREL;
	if (section->layout != WALK_OTHER && section->fixed_fp == 0 &&
	    ((section->abi == WALK_ABI_X86_64 && section->fixed_ra == (uint8_t)-8) ||
		(section->abi == WALK_ABI_AARCH64 && section->fixed_ra == 0)))
		section->quick = (uint8_t)walk_machine(section);
	if (section->n_fdes > 0) {
		section->first = walk_start(section, WALK_OTHER, 0);
		walk_open_quick(section);
		walk_open_pages(section);
	}
	return true;
}

bool walk_open(struct eh2sframe_walk_section *opened, const void *bytes, size_t size,
    uint64_t address, uint64_t text_start, uint64_t text_end, bool believe)
{
	struct walk_section *section = walk_opening(opened);

	*opened = (struct eh2sframe_walk_section){{0}};
	*section = (struct walk_section){.bytes = bytes,
	    .address = address,
	    .text_start = text_start,
	    .text_end = text_end,
	    .id = 1};
	if (walk_open_checked(section, size, believe))
		return true;
	*opened = (struct eh2sframe_walk_section){{0}};
	return false;
}

bool eh2sframe_walk_open(struct eh2sframe_walk_section *section, const void *bytes,
    size_t size, uint64_t address, uint64_t text_start, uint64_t text_end)
{
	return walk_open(section, bytes, size, address, text_start, text_end, false);
}

void eh2sframe_walk_open_extra(struct eh2sframe_walk_section *opened,
    const struct eh2sframe_extra *extra, size_t n, uint64_t base)
{
	struct walk_section *section = walk_opening(opened);

	section->extra = extra;
	section->n_extra = n;
	section->extra_base = base;
}
