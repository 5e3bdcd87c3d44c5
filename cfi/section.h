/* SPDX-License-Identifier: MIT */
/* The bytes of one .eh_frame section, and what it takes to read its addresses. */
#ifndef CFI_SECTION_H
#define CFI_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t size;	     /* bytes */
	uint64_t addr;	     /* address of data[0] once loaded, unbiased as in the file */
	size_t gaps; /* bytes of data that are between sections, where it is several */
	bool big_endian;
	uint8_t addr_size; /* bytes of an address: 8 (4 in 32-bit files) */
	/* Bases of DW_EH_PE_textrel and DW_EH_PE_datarel (LSB core, "DWARF Exception
	 * Header Encoding"); a pointer that needs an absent one is a bad record. */
	bool has_text_base, has_data_base;
	uint64_t text_base, data_base;
};

/* What the file has of it. */
static inline size_t cfi_section_bytes(const struct cfi_section *section)
{
	return section->size - section->gaps;
}

#endif
