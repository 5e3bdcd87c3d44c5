/* SPDX-License-Identifier: MIT */
/*
 * Finds the word of the rule for a PC (walk/cache.h), for the sections of nearly all look-ups: little-endian
 * sections of version 2 or 3 as GNU ld and this project write them, rows of offsets, not at the end of the
 * section. The rule is never in memory, and all is inlined. Anything else is left to eh2sframe_walk_look_up.
 */
#ifndef WALK_QUICK_H
#define WALK_QUICK_H

#include "walk/cache.h"

/* The bytes of the longest row: start, info byte and three words. */
enum { WALK_QUICK_SPARE = 4 + 1 + 12 };

/* Returns the word for a row with n words of 1 << code bytes each; 0 if there is none. flags are those of the
 * function. */
WALK_INLINE uint64_t walk_quick_words(enum eh2sframe_walk_machine machine,
    const uint8_t *words, unsigned int info, unsigned int code, uint64_t flags)
{
	bool x86_64 = machine == EH2SFRAME_WALK_X86_64;
	unsigned int n = info >> 1 & 15, used = 1;
	uint64_t word = WALK_PACK_USED | flags;
	int32_t ra = x86_64 ? -8 : 0;

	if (!(info & WALK_ROW_SP))
		word |= WALK_PACK_CFA_FP;
	if (!x86_64 && info & WALK_ROW_SIGNED)
		word |= (uint64_t)EH2SFRAME_FLAG_SIGNED << WALK_PACK_FLAGS_SHIFT;
	if (!x86_64 && n > 1)
		ra = walk_load_word(words + ((size_t)used++ << code), code, false);
	if (ra)
		word |= WALK_PACK_RA;
	if (!walk_pack_cfa(&word, walk_load_word(words, code, false)) ||
	    !walk_pack_offset(&word, ra, WALK_PACK_RA_SHIFT))
		return 0;
	if (used >= n)
		return word;
	word |= WALK_PACK_FP;
	if (!walk_pack_offset(&word,
		walk_load_word(words + ((size_t)used << code), code, false),
		WALK_PACK_FP_SHIFT))
		return 0;
	return word;
}

/* Returns the word for a row, from its info byte on, or 0. Branches find the words, so that their loads
 * do not wait for the info byte. */
WALK_INLINE uint64_t walk_quick_row(
    enum eh2sframe_walk_machine machine, const uint8_t *row, uint64_t flags)
{
	unsigned int info = *row++, n = info >> 1 & 15;

	if (__builtin_expect(n - 1 > (machine == EH2SFRAME_WALK_X86_64 ? 1u : 2u), 0))
		return 0;
	switch (info >> 5 & 3) {
	case 0:
		return walk_quick_words(machine, row, info, 0, flags);
	case 1:
		return walk_quick_words(machine, row, info, 1, flags);
	case 2:
		return walk_quick_words(machine, row, info, 2, flags);
	default:
		return 0;
	}
}

/* Finds the rows of the function of an FDE. false: not one for the quick way. */
WALK_INLINE bool walk_quick_rows(const struct walk_section *section,
    enum walk_layout layout, const uint8_t *fde, uint64_t offset, struct walk_rows *rows)
{
	if (offset >= walk_load32(fde + (layout == WALK_V3_PCREL ? WALK_V3_FDE_SIZE
								 : WALK_FDE_SIZE),
			  false))
		return false;
	rows->offset = (uint32_t)offset;
	if (layout == WALK_V2_PCREL) {
		rows->at = walk_load32(fde + WALK_FDE_ROWS, false);
		rows->n = walk_load32(fde + WALK_FDE_N_ROWS, false);
		rows->info = fde[WALK_FDE_INFO];
		return true;
	}
	rows->at = walk_load32(fde + WALK_V3_FDE_ATTRIBUTE, false);
	if (rows->at + WALK_V3_ATTRIBUTE_BYTES > section->fres_size)
		return false;
	fde = section->fres + rows->at;
	rows->at += WALK_V3_ATTRIBUTE_BYTES;
	rows->n = walk_load16(fde, false);
	rows->info = fde[WALK_V3_ATTRIBUTE_INFO];
	/* Not flexible, and no signal frame. */
	return fde[WALK_V3_ATTRIBUTE_INFO2] == 0 && !(rows->info & WALK_INFO_SIGNAL);
}

/* The word of the last row that holds for rows->offset. type is that of its start. */
WALK_INLINE uint64_t walk_quick_scan(const struct walk_section *section,
    enum eh2sframe_walk_machine machine, const struct walk_rows *rows, unsigned int type,
    uint64_t flags)
{
	size_t row = walk_scan(section->fres, section->fres_size, rows, type, false);

	if (row == SIZE_MAX || section->fres_size - row < WALK_QUICK_SPARE)
		return 0;
	return walk_quick_row(machine, section->fres + row + ((size_t)1 << type), flags);
}

/*
 * As walk_search, with branches: an index leaves few functions, and the processor predicts the
 * branches of the same code again instead of waiting for what it compares.
 */
WALK_INLINE uint64_t walk_quick_search(const struct walk_section *section,
    enum walk_layout layout, uint64_t bytes, uint64_t at, uint32_t n, int64_t rel)
{
	if (n > 4)
		return walk_search(section, layout, bytes, at, n, rel);
	at += (n - 1) * bytes;
	while (n-- > 1 && walk_start(section, layout, at) > rel)
		at -= bytes;
	return at;
}

WALK_INLINE uint64_t walk_quick_in(const struct walk_section *section,
    enum walk_layout layout, enum eh2sframe_walk_machine machine, uint64_t pc)
{
	uint64_t flags = 0, at, bytes = layout == WALK_V3_PCREL ? 16 : 20;
	uint64_t offset = pc - section->quick_start;
	int64_t rel = (int64_t)(offset + (uint64_t)section->first), start;
	uint32_t low = 0, n = section->n_fdes;
	struct walk_rows rows;

	if (offset >= section->quick_size)
		return 0;
	if (section->index)
		walk_index_range(section, offset, &low, &n);
	at = walk_quick_search(section, layout, bytes, low * bytes, n, rel);
	start = walk_start(section, layout, at);
	if (rel < start ||
	    !walk_quick_rows(section, layout, section->fdes + at,
		(uint64_t)rel - (uint64_t)start, &rows) ||
	    rows.info & WALK_INFO_PCMASK)
		return 0;
	if (machine == EH2SFRAME_WALK_AARCH64 && rows.info & WALK_INFO_KEY_B)
		flags = (uint64_t)EH2SFRAME_FLAG_KEY_B << WALK_PACK_FLAGS_SHIFT;
	switch (rows.info & WALK_INFO_ROW_TYPE) {
	case 0:
		return walk_quick_scan(section, machine, &rows, 0, flags);
	case 1:
		return walk_quick_scan(section, machine, &rows, 1, flags);
	case 2:
		return walk_quick_scan(section, machine, &rows, 2, flags);
	default:
		return 0;
	}
}

/* Returns the word of the rule for pc, or 0: then only eh2sframe_walk_look_up can tell. */
WALK_INLINE uint64_t walk_quick(
    const struct walk_section *section, enum eh2sframe_walk_machine machine, uint64_t pc)
{
	if (section->quick != (uint8_t)machine)
		return 0;
	if (section->layout == WALK_V3_PCREL)
		return walk_quick_in(section, WALK_V3_PCREL, machine, pc);
	return walk_quick_in(section, WALK_V2_PCREL, machine, pc);
}

#endif
