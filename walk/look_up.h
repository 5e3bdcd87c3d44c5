/* SPDX-License-Identifier: MIT */
/* Finds the rule of a PC. */
#ifndef WALK_LOOK_UP_H
#define WALK_LOOK_UP_H

#include "walk/opened.h"

/* DWARF numbers of the registers that rows name without a number. */
WALK_INLINE uint8_t walk_sp(enum eh2sframe_walk_machine machine)
{
	return machine == EH2SFRAME_WALK_X86_64	 ? 7
	       : machine == EH2SFRAME_WALK_S390X ? 15
						 : 31;
}

WALK_INLINE uint8_t walk_fp(enum eh2sframe_walk_machine machine)
{
	return machine == EH2SFRAME_WALK_X86_64	 ? 6
	       : machine == EH2SFRAME_WALK_S390X ? 11
						 : 29;
}

WALK_INLINE uint8_t walk_ra(enum eh2sframe_walk_machine machine)
{
	return machine == EH2SFRAME_WALK_X86_64	 ? 16
	       : machine == EH2SFRAME_WALK_S390X ? 14
						 : 30;
}

/* The rows of the function that has a PC. */
struct walk_rows {
	uint64_t at;	 /* of the first one, from the section's rows */
	uint32_t n;	 /* of them */
	uint32_t offset; /* of the PC, from the start of the function or of a block */
	uint8_t info;
	bool flex;
};

/* Bits of func_info: "2.3.1 The SFrame FDE Info Word". */
enum {
	WALK_INFO_ROW_TYPE = 0x0f,
	WALK_INFO_PCMASK = 0x10, /* rows apply to each block of the function */
	WALK_INFO_KEY_B = 0x20,
	WALK_INFO_SIGNAL = 0x80,
};

/* "2.4.1 The SFrame FRE Info Word" */
enum { WALK_ROW_SP = 0x01, WALK_ROW_LENGTH = 0x7e, WALK_ROW_SIGNED = 0x80 };

/* A row's start; type is that of its function. */
WALK_INLINE uint32_t walk_row_start(const uint8_t *row, unsigned int type, bool swap)
{
	if (type == 0)
		return *row;
	return type == 1 ? walk_load16(row, swap) : walk_load32(row, swap);
}

/* True if three rows after each other, from the info byte on, are as long as info says. */
WALK_INLINE bool walk_rows_alike(const uint8_t *row, size_t step, unsigned int info)
{
	unsigned int differ =
	    (row[0] ^ info) | (row[step] ^ info) | (row[2 * step] ^ info);

	return (differ & WALK_ROW_LENGTH) == 0;
}

/*
 * The bytes of a row. For the commonest lengths it is a constant behind a branch, which the
 * processor foresees, so that no later load waits for the info byte.
 */
WALK_INLINE size_t walk_row_bytes(unsigned int info, size_t width)
{
	size_t bytes = width + 2;

	if ((info & WALK_ROW_LENGTH) == 1 << 1) {
		__asm__("" : "+r"(bytes));
		return bytes;
	}
	bytes = width + 3;
	if ((info & WALK_ROW_LENGTH) == 2 << 1) {
		__asm__("" : "+r"(bytes));
		return bytes;
	}
	return width + 1 + ((size_t)(info >> 1 & 15) << (info >> 5 & 3));
}

/*
 * Returns where the last row that holds for offset starts; SIZE_MAX when the first one starts behind it, or
 * when rows are cut off. Most rows are as long as the one before, so four are passed at once while that is
 * so. A change of the length is a branch, and not a number that the next load has to wait for.
 */
WALK_INLINE size_t walk_scan(const uint8_t *fres, size_t size,
    const struct walk_rows *rows, unsigned int type, bool swap)
{
	size_t width = (size_t)1 << type, end = size > width ? size - width : 0;
	size_t at = (size_t)rows->at, step;
	uint32_t offset = rows->offset, n = rows->n;
	unsigned int info;

	if (n == 0 || at >= end || walk_row_start(fres + at, type, swap) > offset)
		return SIZE_MAX;
	for (;;) {
		info = fres[at + width];
		step = walk_row_bytes(info, width);
		while (n > 4 && 4 * step < end - at &&
		       walk_rows_alike(fres + at + step + width, step, info) &&
		       walk_row_start(fres + at + 4 * step, type, swap) <= offset) {
			at += 4 * step;
			n -= 4;
			if ((fres[at + width] ^ info) & WALK_ROW_LENGTH)
				break;
		}
		while (((fres[at + width] ^ info) & WALK_ROW_LENGTH) == 0) {
			if (n-- == 1 || step >= end - at ||
			    walk_row_start(fres + at + step, type, swap) > offset)
				return at;
			at += step;
		}
	}
}

/* Reads the row for rows->offset as a rule (rules.c). GOES_ON, NO_ROW or DAMAGED. */
enum eh2sframe_walk_why walk_rule(const struct walk_section *section,
    const struct walk_rows *rows, struct eh2sframe_rule *rule);

/* Narrows the search for the function of a PC that is offset bytes behind the start of the
 * first function. The index may be damaged. */
WALK_INLINE void walk_index_range(
    const struct walk_section *section, uint64_t offset, uint32_t *low, uint32_t *n)
{
	uint64_t page = offset >> section->index_shift;
	uint32_t last = section->n_fdes - 1, from = last, to = last;

	if (__builtin_expect(page < section->n_pages, 1)) {
		from = section->index[page];
		to = section->index[page + 1];
	}
	if (__builtin_expect(to > last || from > to, 0)) {
		to = to > last ? last : to;
		from = from > to ? to : from;
	}
	*low = from;
	*n = to - from + 1;
}

#endif
