/* SPDX-License-Identifier: MIT */
/*
 * Turns a model into a smaller one that gives the same answers: where one function's rows end and the next
 * one's begin is nothing that a reader asks for, so the text is cut anew into pieces that cost the fewest
 * bytes. A piece may hold several functions, or end inside of one; in front of the next function of the same
 * piece, padding carries the row before it.
 */
#ifndef SFRAME_COMPACT_COMPACT_H
#define SFRAME_COMPACT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "sframe/model.h"

enum {
	SF_COMPACT_PADDING_MAX = 15, /* bytes of code without an FDE */
	SF_COMPACT_ROWS = 32,	     /* of a piece: a reader goes over them one by one */
};

/* Code that no piece may cover, because something else owns it. An empty range is a
 * border: no piece may cross it. */
struct sf_compact_range {
	uint64_t start, end; /* addresses; end is exclusive */
};

struct sf_compact_options {
	uint8_t version;
	uint32_t max_rows; /* of a piece that is not inside of one function */
	const struct sf_compact_range *taken; /* ascending by start; borrowed */
	size_t n_taken;
	/* True if nothing in [start, end), which no function covers, is ever run. Asked
	 * by the caller's thread, in ascending order, sometimes twice. NULL: nothing there ever is. */
	bool (*is_padding)(const void *context, uint64_t start, uint64_t end);
	const void *context;
};

struct sf_compact_stats {
	size_t n_before, n_funcs;     /* functions of the model */
	uint64_t rows_before, n_rows; /* of all of them, shared ones each time */
	uint64_t padding_bytes;	      /* that pieces cover now */
	/* Set by sf_compact only: estimated bytes of the pieces and their rows. Blocks that
	 * are equal by chance count more than once, so sf_encode may write fewer. */
	uint64_t bytes;
};

/*
 * Joins neighbours that have the same single row into one function, also over padding; the others stay as
 * they are. The bytes of sf_encode never grow. Allocates nothing and goes over the functions once, so
 * max_rows has no effect. False only for an unknown version or ABI. stats may be NULL.
 */
ATTR_MUST_CHECK bool sf_compact_equal(struct sf_section *section,
    const struct sf_compact_options *options, struct sf_compact_stats *stats,
    struct err *err);

/*
 * Replaces the functions of section, which are ascending and do not overlap. Signal
 * frames, PCMASK and flexible functions stay as they are. The bytes of sf_encode with
 * sharing are never more than after sf_compact_equal, but for blocks that the others shared with these.
 * False when memory runs out. stats may be NULL.
 */
ATTR_MUST_CHECK bool sf_compact(struct sf_section *section,
    const struct sf_compact_options *options, struct sf_compact_stats *stats,
    struct err *err);

#endif
