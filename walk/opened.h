/* SPDX-License-Identifier: MIT */
/*
 * An opened section: the format's offsets, and the search for the function that has a PC.
 * Integers are from bytes that the caller has seen to be there, without a call of libc: the compiler makes single loads of
 * __builtin_memcpy.
 */
#ifndef WALK_OPENED_H
#define WALK_OPENED_H

#include <stdbool.h>
#include <stdint.h>

#include "include/eh2sframe-walk.h"

/* For functions that get their speed from constant arguments. */
#define WALK_INLINE static inline __attribute__((always_inline))

WALK_INLINE uint16_t walk_load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

WALK_INLINE uint32_t walk_load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

WALK_INLINE uint64_t walk_load64(const uint8_t *p, bool swap)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* A signed integer of 1, 2 or 4 bytes: 1 << code. */
WALK_INLINE int32_t walk_load_word(const uint8_t *p, unsigned int code, bool swap)
{
	if (code == 0)
		return (int8_t)*p;
	return code == 1 ? (int16_t)walk_load16(p, swap) : (int32_t)walk_load32(p, swap);
}

/* "2.1 SFrame Header": offsets from the section's start. */
enum {
	WALK_HEADER_VERSION = 2,
	WALK_HEADER_FLAGS = 3,
	WALK_HEADER_ABI = 4,
	WALK_HEADER_FIXED_FP = 5,
	WALK_HEADER_FIXED_RA = 6,
	WALK_HEADER_AUX_LEN = 7,
	WALK_HEADER_N_FDES = 8,
	WALK_HEADER_FRE_LEN = 16,
	WALK_HEADER_FDE_OFF = 20,
	WALK_HEADER_FRE_OFF = 24,
	WALK_HEADER_SIZE = 28,
};

enum { WALK_MAGIC = 0xdee2 };

/* "2.1.3 SFrame Flags" */
enum { WALK_SORTED = 1, WALK_FRAME_POINTER = 2, WALK_PCREL = 4 };

/* "2.2.1 SFrame ABI/arch Identifier" */
enum {
	WALK_ABI_AARCH64_BE = 1,
	WALK_ABI_AARCH64 = 2,
	WALK_ABI_X86_64 = 3,
	WALK_ABI_S390X = 4
};

/* "2.3 SFrame FDE": offsets from the descriptor's start. */
enum {
	WALK_FDE_SIZE = 4,    /* of the function; version 3: 8 */
	WALK_FDE_ROWS = 8,    /* its rows; version 3: its attribute, at 12 */
	WALK_FDE_N_ROWS = 12, /* versions 1 and 2 */
	WALK_FDE_INFO = 16,   /* versions 1 and 2 */
	WALK_FDE_REP = 17,    /* version 2 */
	WALK_V3_FDE_SIZE = 8,
	WALK_V3_FDE_ATTRIBUTE = 12,
	WALK_V3_ATTRIBUTE_INFO = 2,
	WALK_V3_ATTRIBUTE_INFO2 = 3,
	WALK_V3_ATTRIBUTE_REP = 4,
	WALK_V3_ATTRIBUTE_BYTES = 5,
};

/* How the FDEs of a section lie; the first two are what is written today. */
enum walk_layout {
	WALK_V2_PCREL, /* native byte order */
	WALK_V3_PCREL,
	WALK_OTHER,
};

/* Bytes of an FDE. */
WALK_INLINE uint32_t walk_fde_bytes(unsigned int version)
{
	return version == 1 ? 17 : version == 2 ? 20 : 16;
}

/*
 * Contents of a struct eh2sframe_walk_section. A caller declares and copies that as words, hence may_alias.
 */
struct walk_section {
	const uint8_t *bytes, *fdes, *fres;
	size_t fres_size;
	uint64_t address, text_start, text_end;
	const uint32_t *index;
	const struct eh2sframe_extra *extra;
	uint64_t extra_base;
	size_t n_extra;
	int64_t first;			  /* start of the first function, from fdes */
	uint64_t quick_start, quick_size; /* addresses that quick look-ups serve */
	uint32_t n_fdes, n_pages;	  /* of an index; 0: it can have none */
	uint32_t id;			  /* 0: a cache keeps no rule of it */
	uint8_t version, flags, abi, swap, layout, quick, index_shift, fixed_fp, fixed_ra;
} __attribute__((may_alias));

_Static_assert(
    sizeof(struct walk_section) <= sizeof(struct eh2sframe_walk_section) &&
	_Alignof(struct walk_section) <= _Alignof(struct eh2sframe_walk_section),
    "the storage is too small");

/*
 * Opens a section as eh2sframe_walk_open does. One that is opened anew for each walk is believed: its header says that the functions
 * ascend, and they are not read. A section that lies hides rows.
 */
bool walk_open(struct eh2sframe_walk_section *opened, const void *bytes, size_t size,
    uint64_t address, uint64_t text_start, uint64_t text_end, bool believe);

WALK_INLINE const struct walk_section *walk_opened(
    const struct eh2sframe_walk_section *section)
{
	return (const struct walk_section *)(const void *)section;
}

WALK_INLINE struct walk_section *walk_opening(struct eh2sframe_walk_section *section)
{
	return (struct walk_section *)(void *)section;
}

/* Returns the machine that the section's rows are for. */
WALK_INLINE enum eh2sframe_walk_machine walk_machine(const struct walk_section *section)
{
	if (section->abi == WALK_ABI_X86_64)
		return EH2SFRAME_WALK_X86_64;
	return section->abi == WALK_ABI_S390X ? EH2SFRAME_WALK_S390X
					      : EH2SFRAME_WALK_AARCH64;
}

/*
 * Returns the start of the function whose FDE is at bytes behind the first one, from the address of the first
 * FDE. Damaged fields wrap around; opening checks that the results ascend as signed numbers.
 */
WALK_INLINE int64_t walk_start(
    const struct walk_section *section, enum walk_layout layout, uint64_t at)
{
	const uint8_t *fde = section->fdes + at;
	uint64_t start;

	if (layout == WALK_V3_PCREL)
		return (int64_t)(walk_load64(fde, false) + at);
	if (layout == WALK_V2_PCREL)
		return (int32_t)walk_load32(fde, false) + (int64_t)at;
	if (section->version == 3)
		start = walk_load64(fde, section->swap);
	else
		start = (uint64_t)(int64_t)(int32_t)walk_load32(fde, section->swap);
	if (section->flags & WALK_PCREL)
		return (int64_t)(start + at);
	return (int64_t)(start - (uint64_t)(section->fdes - section->bytes));
}

/* As walk_start, from the start of the first function. */
WALK_INLINE uint64_t walk_start_behind(const struct walk_section *section, uint64_t at)
{
	return (uint64_t)walk_start(section, WALK_OTHER, at) - (uint64_t)section->first;
}

/* Returns pc from the address of the first FDE, as walk_start. */
WALK_INLINE int64_t walk_relative(const struct walk_section *section, uint64_t pc)
{
	return (
	    int64_t)(pc - section->address - (uint64_t)(section->fdes - section->bytes));
}

/*
 * Returns the last of n > 0 FDEs, from the one at bytes behind the first one, that starts
 * at or before rel; the first of them when none does. bytes is the size of each. Without
 * branches that depend on the data, because no processor can predict them.
 */
WALK_INLINE uint64_t walk_search(const struct walk_section *section,
    enum walk_layout layout, uint64_t bytes, uint64_t at, uint32_t n, int64_t rel)
{
	while (n > 1) {
		uint32_t half = n / 2;
		uint64_t middle = at + half * bytes;
		bool before = walk_start(section, layout, middle) <= rel;

		at = __builtin_expect_with_probability(before, 1, 0.5) ? middle : at;
		n -= half;
	}
	return at;
}

#endif
