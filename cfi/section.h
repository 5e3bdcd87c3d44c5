/* SPDX-License-Identifier: MIT */
/* The bytes of .eh_frame, of records made of Go's table before them, and of .debug_frame behind, with what is
 * needed to read them. */
#ifndef CFI_SECTION_H
#define CFI_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t size;	     /* bytes */
	uint64_t addr;	     /* address of data[0] once loaded, unbiased as in the file */
	size_t gaps;	/* bytes of data that are between sections, where it is several */
	size_t go_size; /* the first bytes of data are made of Go's table; 0: none are */
	size_t debug_size; /* the last bytes of data are .debug_frame; 0: there is none */
	bool big_endian;
	uint8_t addr_size; /* bytes of an address: 8 (4 in 32-bit files) */
	/* Bases of DW_EH_PE_textrel and DW_EH_PE_datarel (LSB core, "DWARF Exception
	 * Header Encoding"); a pointer that needs an absent one is a bad record. */
	bool has_text_base, has_data_base;
	uint64_t text_base, data_base;
};

/* The bytes of data in the form of .eh_frame, and gaps in it; .debug_frame begins there. */
static inline size_t cfi_section_eh_size(const struct cfi_section *section)
{
	return section->size - section->debug_size;
}

/* What the file has of .eh_frame. */
static inline size_t cfi_section_bytes(const struct cfi_section *section)
{
	return cfi_section_eh_size(section) - section->go_size - section->gaps;
}

/* Parts of which each is read by itself, because their FDEs may be for the same code. */
enum cfi_part {
	CFI_PART_EH, /* of Go's table, too */
	CFI_PART_DEBUG,
	CFI_N_PARTS,
};

/* One of them alone; size is 0 where it is not there. */
static inline struct cfi_section cfi_section_one(
    const struct cfi_section *section, enum cfi_part part)
{
	const size_t eh_size = cfi_section_eh_size(section);
	const size_t first = part == CFI_PART_DEBUG ? eh_size : 0;
	const size_t last = part == CFI_PART_DEBUG ? section->size : eh_size;
	struct cfi_section one = *section;

	one.data = section->data ? section->data + first : NULL;
	one.size = last - first;
	one.addr = part == CFI_PART_DEBUG ? 0 : section->addr + first;
	one.debug_size = part == CFI_PART_DEBUG ? section->debug_size : 0;
	one.go_size = part == CFI_PART_EH ? section->go_size : 0;
	one.gaps = part == CFI_PART_EH ? section->gaps : 0;
	return one;
}

/* The name of the section that has the byte at off, and where in that section it is. */
static inline const char *cfi_section_at(
    const struct cfi_section *section, uint64_t off, uint64_t *into)
{
	const size_t eh_size = cfi_section_eh_size(section);

	*into = off;
	if (off < section->go_size)
		return "go";
	*into = off - section->go_size;
	if (!section->debug_size || off < eh_size)
		return ".eh_frame";
	*into = off - eh_size;
	return ".debug_frame";
}

#endif
