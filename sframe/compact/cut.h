/* SPDX-License-Identifier: MIT */
/* Inside the optimiser: the cheapest cuts of one line. */
#ifndef SFRAME_COMPACT_CUT_H
#define SFRAME_COMPACT_CUT_H

#include "sframe/compact/internal.h"

/* Costs are in parts of a byte, for stored blocks are paid by all who use them. */
enum { FUSE_BYTE = 256 };
#define FUSE_NO_BLOCK UINT32_MAX

/* A piece that may be shared, and what its rows cost then. */
struct fuse_offer {
	uint32_t from, to;
	uint32_t block;
};

/* A beginning of pieces, and the part of their cost that depends on it. */
struct fuse_beginning {
	int64_t cost;
	uint32_t from;
};

struct fuse_cut {
	int64_t *best;	 /* owned, like the rest; the cost up to an element */
	uint32_t *from;	 /* where the last piece before it begins */
	uint32_t *block; /* which block it is, or FUSE_NO_BLOCK */
	struct fuse_beginning *queue[3]; /* by the width of row starts */
	size_t cap;
};

/*
 * The offers are in the order of their ends. price is by block. Afterwards the last piece
 * is [cut->from[n], n), the one before it ends there.
 */
ATTR_MUST_CHECK bool fuse_cut_line(const struct fuse *fuse,
	const struct fuse_offer *offers, size_t n_offers, const uint32_t *price,
	struct fuse_cut *cut);
void fuse_cut_deinit(struct fuse_cut *cut);

#endif
