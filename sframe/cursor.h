/* SPDX-License-Identifier: MIT */
/* The rows of a decoded section in the order of the addresses they hold for. */
#ifndef SFRAME_CURSOR_H
#define SFRAME_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "sframe/decode.h"

/* One row over [start, end), clipped to what was asked for. PCMASK rows come block by
 * block. */
struct sf_segment {
	uint64_t start, end;	  /* addresses */
	const struct sf_row *row; /* until the next call */
	uint64_t off;		  /* of that row, from the section's start */
	bool signal_frame;	  /* the function is marked as one */
	bool pauth_b;		  /* its signing key is B */
};

/* Row starts of a PCMASK function ascend below a block size of at most 255. */
#define SF_CURSOR_MAX_BLOCK_ROWS 255

/* A 4 GiB PCMASK function of one-byte blocks is a few bytes of input; the work stops
 * here. */
#define SF_CURSOR_MAX_SEGMENTS 67108864u

struct sf_cursor {
	const struct sf_view *view; /* borrowed; has passed sf_check_all */
	uint32_t *order; /* functions that have a size, by start; NULL: as stored */
	uint32_t n;	 /* of them */
	uint32_t at;	 /* function whose turn it is, in that order */
	struct sf_view_func func;
	bool have_func, have_rows;
	struct sf_row_iter iter; /* PCINC: after next */
	struct sf_row row, next; /* PCINC: the row that holds, and the one after it */
	bool have_row, have_next;
	struct sf_row block[SF_CURSOR_MAX_BLOCK_ROWS]; /* PCMASK: all rows */
	size_t n_block;
	/* Offsets in the section: of row and next with PCINC, of all in block with PCMASK. */
	uint64_t offs[SF_CURSOR_MAX_BLOCK_ROWS + 1];
	uint64_t pos; /* addresses below are done */
	uint32_t n_segments;
	bool failed;
};

ATTR_MUST_CHECK bool sf_cursor_init(
    struct sf_cursor *cursor, const struct sf_view *view, struct err *err);
void sf_cursor_deinit(struct sf_cursor *cursor);

/* Goes on with the segments at or above pc. Forward is cheap; back, and to the first one, costs a search. */
void sf_cursor_seek(struct sf_cursor *cursor, uint64_t pc);

/*
 * Returns the function that covers all of [start, end), and gives the same answer wherever that code
 * stands (PCINC): because it begins there, or has one row for everything. NULL when there is none, or
 * on damage. start is no less than what was passed already. The cursor does not move.
 */
const struct sf_view_func *sf_cursor_function_at(
    struct sf_cursor *cursor, uint64_t start, uint64_t end, struct err *err);

/* True if every row of the PCINC function that the last segment was of has come up. */
static inline bool sf_cursor_at_end(const struct sf_cursor *cursor)
{
	return cursor->have_func && cursor->have_rows && !cursor->have_next;
}

/* True if the row of the last segment, of a PCINC function, held before start already. */
static inline bool sf_cursor_held(const struct sf_cursor *cursor, uint64_t start)
{
	const struct sf_func *func = &cursor->func.func;

	return !func->pcmask && func->start + cursor->row.start < start;
}

/* True if the function of the last segment ends at end. */
static inline bool sf_cursor_ends(const struct sf_cursor *cursor, uint64_t end)
{
	const struct sf_func *func = &cursor->func.func;

	return end - func->start == func->size;
}

/* The next segment that starts below limit, cut off there; false when there is none, or
 * on damage (cursor->failed and err). */
bool sf_cursor_next(struct sf_cursor *cursor, uint64_t limit, struct sf_segment *segment,
    struct err *err);

/* Returns the row that a sorted model has for pc, and in *end where it stops holding;
 * NULL when none, with *end lowered to the next function's start if that is nearer. */
const struct sf_row *sf_section_row_at(
    const struct sf_section *section, uint64_t pc, uint64_t *end);
/* Takes PCs that ascend, without a search: *at is 0 before the first one. */
const struct sf_row *sf_section_row_next(
    const struct sf_section *section, size_t *at, uint64_t pc, uint64_t *end);

#endif
