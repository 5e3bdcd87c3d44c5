/* SPDX-License-Identifier: MIT */
/*
 * From a model to a smaller one that gives the same answers: where one function's rows
 * end and the next one's begin is nothing that a reader asks for, so the text is cut anew
 * into pieces that cost the fewest bytes. A piece may hold several functions, or end
 * inside of one; in front of the next function of the same piece, padding carries the
 * row before it.
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
	SF_COMPACT_ROWS = 32,	     /* of a piece, unless told otherwise */
	SF_COMPACT_ROWS_MIN = 2,
	SF_COMPACT_ROWS_MAX = 65535, /* what version 3 can count */
};

/* Code that no piece may cover: it is somebody's. An empty range is a border between
 * what ends and what begins there. */
struct sf_compact_range {
	uint64_t start, end; /* addresses; end is exclusive */
};

struct sf_compact_options {
	uint8_t version;
	uint32_t max_rows; /* of a piece that is not inside of one function */
	const struct sf_compact_range *taken; /* ascending by start; borrowed */
	size_t n_taken;
	/* True if nothing in [start, end), which is of nobody, is ever run: asked, by any
	 * thread, before a piece covers it. NULL: nothing ever is. */
	bool (*is_padding)(const void *context, uint64_t start, uint64_t end);
	const void *context;
	unsigned int jobs; /* threads at most; the result does not depend on it */
};

struct sf_compact_stats {
	size_t n_before, n_funcs;     /* functions of the model */
	uint64_t rows_before, n_rows; /* of all of them, shared ones each time */
	uint64_t padding_bytes;	      /* that pieces cover now */
	/* sf_compact only: of the pieces and their rows, as reckoned. Blocks that are equal
	 * by chance count more than once, so sf_encode's may be fewer. */
	uint64_t bytes;
};

/*
 * Puts neighbours that have one row each, the same, together to one function, also over
 * padding; the others stay as they are. The bytes of sf_encode are never more than
 * before. Takes no memory, and goes over the functions once; max_rows and jobs mean
 * nothing here. stats may be NULL.
 */
ATTR_MUST_CHECK bool sf_compact_equal(struct sf_section *section,
    const struct sf_compact_options *options, struct sf_compact_stats *stats,
    struct err *err);

/*
 * Replaces the functions of section, which are ascending and do not overlap. Signal
 * frames, PCMASK and flexible functions stay as they are. The bytes of sf_encode with
 * sharing are never more than before, but for blocks that the others shared with these.
 * False when memory runs out. stats may be NULL.
 */
ATTR_MUST_CHECK bool sf_compact(struct sf_section *section,
    const struct sf_compact_options *options, struct sf_compact_stats *stats,
    struct err *err);

#endif
