/* SPDX-License-Identifier: MIT */
/* Bytes of CFI with what is needed to read them: one part behind the other, each from another source. */
#ifndef CFI_SECTION_H
#define CFI_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part whose records refer to each other only. Parts are read one by one, because their FDEs may be for
 * the same code. */
struct cfi_part {
	const char *name;    /* for people */
	size_t off, size;    /* bytes from the start of data; bytes */
	unsigned int source; /* where they are from, by the caller's numbers */
	bool debug;	     /* in the form of .debug_frame, else in that of .eh_frame */
};

enum { CFI_N_PARTS = 3 };

struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t size;	     /* bytes */
	uint64_t addr;	     /* address of data[0] once loaded, unbiased as in the file */
	size_t gaps; /* bytes of data that are between sections, where it is several */
	/* All of data, those in the form of .debug_frame last. Without any, cfi_frames_read takes
	 * data for .eh_frame, of source 0. */
	struct cfi_part parts[CFI_N_PARTS];
	size_t n_parts;
	bool big_endian;
	uint8_t addr_size; /* bytes of an address: 8 (4 in 32-bit files) */
	/* Base of DW_EH_PE_datarel in .eh_frame_hdr. Records have none, nor one of
	 * DW_EH_PE_textrel: no psABI of these machines gives it, libgcc adds 0, which is no
	 * place in a module that is moved, and GNU ld sorts by the address of the GOT. A
	 * record that needs one is a bad one. */
	bool has_data_base;
	uint64_t data_base;
};

/* The part that has the byte at off, or the last one. There is one at least. */
static inline const struct cfi_part *cfi_section_part(
    const struct cfi_section *section, uint64_t off)
{
	size_t i = section->n_parts - 1;

	while (i && off < section->parts[i].off)
		i--;
	return &section->parts[i];
}

/* The part in the form of .debug_frame. NULL: there is none. */
static inline const struct cfi_part *cfi_section_debug(const struct cfi_section *section)
{
	for (size_t i = 0; i < section->n_parts; i++)
		if (section->parts[i].debug)
			return &section->parts[i];
	return NULL;
}

/* Returns one part alone. The addresses of .debug_frame are places in it. */
static inline struct cfi_section cfi_section_one(
    const struct cfi_section *section, const struct cfi_part *part)
{
	struct cfi_section one = *section;

	one.data = section->data + part->off;
	one.size = part->size;
	one.addr = part->debug ? 0 : section->addr + part->off;
	one.parts[0] = *part;
	one.parts[0].off = 0;
	one.n_parts = 1;
	return one;
}

/* The name of the part that has the byte at off, and where in it that is. */
static inline const char *cfi_section_at(
    const struct cfi_section *section, uint64_t off, uint64_t *into)
{
	const struct cfi_part *part = cfi_section_part(section, off);

	*into = off - part->off;
	return part->name;
}

#endif
