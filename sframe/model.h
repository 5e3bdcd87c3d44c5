/* SPDX-License-Identifier: MIT */
/*
 * Contents of an SFrame section, apart from how a version lays them out. The formulas use
 * "cfa" for the canonical frame address and "reg" for a DWARF register's value at the PC.
 */
#ifndef SFRAME_MODEL_H
#define SFRAME_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* How one value of the caller is found. Versions 1 and 2 know NONE and AT_CFA for RA and
 * FP, and REG with the ABI's SP or FP for the CFA; the others need version 3's flexible
 * FDEs. */
enum sf_loc_kind {
	/* FP: unchanged. RA: at the header's fixed offset, else unchanged. */
	SF_LOC_NONE = 0,
	SF_LOC_AT_CFA, /* *(cfa + off) */
	SF_LOC_REG,    /* reg + off */
	SF_LOC_AT_REG, /* *(reg + off) */
};

struct sf_loc {
	uint8_t kind; /* enum sf_loc_kind */
	uint8_t reg;  /* DWARF number; 0 where the kind has none */
};

enum {
	SF_REG_MAX = 31, /* that is written; x86-64's APX, for one, has higher ones */
	SF_REG_NONE = UINT8_MAX, /* read where the number is one that no machine has */
};

struct sf_row {
	uint32_t start; /* bytes from the function's start (PCMASK: from the block's
			   start) */
	int32_t cfa_off, ra_off, fp_off; /* bytes; 0 where the kind has none */
	struct sf_loc cfa, ra, fp;
	bool ra_signed; /* AArch64: the return address carries a signature here */
	bool outermost; /* RA undefined: unwinding ends; no other member is set */
};

struct sf_func {
	uint64_t start;	   /* address */
	uint32_t size;	   /* bytes; PCMASK: all repetitions together */
	uint32_t n_rows;   /* when encoding at least 1, but for signal frames */
	size_t first_row;  /* index into the section's rows; functions may share them */
	uint8_t rep_size;  /* PCMASK: bytes of one block, else 0 */
	bool pcmask;	   /* rows apply to (pc - start) % rep_size */
	bool pauth_b;	   /* AArch64: return addresses are signed with key B */
	bool signal_frame; /* version 3 */
};

struct sf_section {
	uint8_t abi; /* SFRAME_ABI_* */
	bool big_endian;
	int8_t fixed_fp_off; /* from the CFA; 0: FP has words of its own */
	int8_t fixed_ra_off; /* from the CFA; 0: RA has words of its own */
	/* Owned; ascending by start, not overlapping, when finished. */
	struct sf_func *funcs;
	size_t n_funcs, cap_funcs;
	struct sf_row *rows; /* owned; of all functions */
	size_t n_rows, cap_rows;
};

/* True if the members that say where values are agree; start is not compared. */
bool sf_row_same(const struct sf_row *a, const struct sf_row *b);

/* The rows of a function; NULL without any, because there may be no array then. */
static inline const struct sf_row *sf_section_rows(
    const struct sf_section *section, const struct sf_func *func)
{
	return func->n_rows ? section->rows + func->first_row : NULL;
}

/* Makes room for so many more, so that adding them copies nothing. False when memory runs out. */
ATTR_MUST_CHECK bool sf_section_expect(
    struct sf_section *section, size_t n_funcs, size_t n_rows);
/* Appends a function that will own the rows added after it. False when memory runs out.
 */
ATTR_MUST_CHECK bool sf_section_add_func(
    struct sf_section *section, const struct sf_func *func);
/* Appends a function that is like function number i but for its place: it has the same
 * rows. */
ATTR_MUST_CHECK bool sf_section_add_same(
    struct sf_section *section, size_t i, uint64_t start, uint32_t size);
ATTR_MUST_CHECK bool sf_section_add_row(
    struct sf_section *section, const struct sf_row *row);
/* Appends all of more, behind what is there. */
ATTR_MUST_CHECK bool sf_section_append(
    struct sf_section *section, const struct sf_section *more);
void sf_section_deinit(struct sf_section *section);

#endif
