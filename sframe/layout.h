/* SPDX-License-Identifier: MIT */
/*
 * Inside the writer: what a version can say and how it lays a function out. All that
 * differs between versions is in the table of layouts, one entry for each.
 */
#ifndef SFRAME_LAYOUT_H
#define SFRAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wr.h"
#include "sframe/encode.h"
#include "sframe/format.h"
#include "sframe/model.h"

/* Rows without words, which say that RA is undefined. */
enum sf_layout_outermost {
	SF_OUTERMOST_NEVER,
	SF_OUTERMOST_ON_REQUEST, /* in the text, but not in every reader */
	SF_OUTERMOST_ALWAYS,
};

struct sf_layout {
	uint8_t version;
	uint8_t func_size; /* bytes of one FDE */
	uint8_t flags;	   /* those it defines */
	uint8_t outermost; /* enum sf_layout_outermost */
	uint32_t max_rows; /* that a function's row count can say */
	bool has_blocks;   /* PCMASK functions state the size of their blocks */
	bool has_signals;  /* signal frames are marked, and may go without rows */
	bool has_flex;	   /* flexible FDEs, on the ABIs that have them */
	bool has_regs;	   /* s390x: default rows may name registers */

	/* Appends what stands right before a function's rows; NULL when nothing does. */
	void (*put_attr)(struct wr *rows, const struct sf_func *func, uint8_t row_type,
	    uint8_t fde_type);
	/* Appends the FDE, its start field 0. */
	void (*put_func)(struct wr *out, const struct sf_func *func, uint8_t row_type,
	    uint32_t rows_off);
	/* Fills in the start field at off; false when the distance does not fit. */
	bool (*put_start)(struct wr *out, size_t off, uint64_t base, uint64_t start);
};

/* NULL when the version cannot be written. */
const struct sf_layout *sf_layout_find(uint8_t version);

/* As sf_can_express, for a version and an ABI that are known to go together. */
enum sf_cannot sf_layout_can_express(
    const struct sf_layout *layout, const struct sf_abi *abi, const struct sf_row *row);

/* True if the row, which the layout can hold, needs a flexible FDE. */
bool sf_row_needs_flex(const struct sf_abi *abi, const struct sf_row *row);

/* True if RA has a place of its own: it is saved, and not where the ABI fixes it. */
static inline bool sf_row_has_ra(const struct sf_abi *abi, const struct sf_row *row)
{
	if (row->ra.kind == SF_LOC_NONE)
		return false;
	return abi->fixed_ra_off == 0 || row->ra.kind != SF_LOC_AT_CFA ||
	       row->ra_off != abi->fixed_ra_off;
}

/* Appends the bytes of a row that can be said. */
void sf_put_row(struct wr *wr, const struct sf_abi *abi, const struct sf_row *row,
    uint8_t row_type, uint8_t fde_type);

#endif
