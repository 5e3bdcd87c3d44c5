/* SPDX-License-Identifier: MIT */
/* Inside the optimiser: the pieces that occur more than once, each by its hash. */
#ifndef SFRAME_FUSE_BLOCKS_H
#define SFRAME_FUSE_BLOCKS_H

#include "sframe/fuse_cut.h"

struct fuse_block {
	uint64_t hash;
	uint32_t len;  /* bytes, if it is stored */
	uint32_t seen; /* pieces that could use it */
	uint32_t used; /* that do, in the solution at hand */
};

struct fuse_blocks {
	uint8_t *filter; /* owned; whether a hash came up once, or more often */
	size_t n_filter;
	struct fuse_block *list; /* owned */
	size_t n, cap;
	uint32_t *slots; /* owned; 0 or one more than an index */
	size_t n_slots;
	uint32_t *price;	   /* owned; by block */
	struct fuse_offer *offers; /* owned; of all lines, one after the other */
	size_t n_offers, cap_offers;
	uint64_t alone; /* bytes of whole functions that nobody can share */
};

/* Calls back for each piece of the line that is worth a thought, in the order of their
 * ends. */
ATTR_MUST_CHECK bool fuse_blocks_walk(const struct fuse *fuse,
	bool (*f)(void *context, const struct fuse_piece *piece, bool whole),
	void *context);
bool fuse_blocks_filter(void *blocks, const struct fuse_piece *piece, bool whole);
bool fuse_blocks_collect(void *blocks, const struct fuse_piece *piece, bool whole);
ATTR_MUST_CHECK bool fuse_blocks_init(struct fuse_blocks *blocks, size_t n_funcs);
void fuse_blocks_deinit(struct fuse_blocks *blocks);

#endif
