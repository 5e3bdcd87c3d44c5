/* SPDX-License-Identifier: MIT */
/* Inside the optimiser: the cheapest cuts of one line. */
#ifndef SFRAME_COMPACT_CUT_H
#define SFRAME_COMPACT_CUT_H

#include "sframe/compact/internal.h"

/* Costs are in fractions of a byte: all users of a stored block share its cost. */
enum { COMPACT_BYTE = 256 };
#define COMPACT_NO_BLOCK UINT32_MAX

/* A piece that may be shared, and what its rows cost then. */
struct compact_offer {
	uint32_t from, to;
	uint32_t block;
};

/* A place where pieces begin, and the part of their cost that depends on it. */
struct compact_beginning {
	int64_t cost;
	uint32_t from;
};

struct compact_cut {
	int64_t *best;	 /* owned, the rest is behind it; the cost up to an element */
	uint32_t *from;	 /* where the last piece before it begins */
	uint32_t *to;	 /* where the piece that begins here ends */
	uint32_t *block; /* and which block it is, or COMPACT_NO_BLOCK */
	struct compact_beginning *queue[3]; /* by the width of row starts */
	size_t cap;
};

/*
 * Finds the cheapest cuts of the line, or of those at its marks only, which is faster. The offers are in the order of their
 * ends; price is by block. Afterwards the first piece is [0, cut->to[0]), and the next one begins there. False when memory runs out.
 */
ATTR_MUST_CHECK bool compact_cut_line(const struct compact *compact,
    const struct compact_offer *offers, size_t n_offers, const uint32_t *price,
    bool marks_only, struct compact_cut *cut);
void compact_cut_deinit(struct compact_cut *cut);

#endif
