/* SPDX-License-Identifier: MIT */
/* Inside the optimiser: the pieces that occur more than once, each by its hash. */
#ifndef SFRAME_COMPACT_REPEATS_H
#define SFRAME_COMPACT_REPEATS_H

#include "sframe/compact/cut.h"

struct fuse_block {
	uint64_t hash;
	uint32_t len;  /* bytes, if it is stored */
	uint32_t seen; /* pieces that could use it */
	uint32_t used; /* that do, in the solution at hand */
};

struct fuse_slot {
	uint32_t tag;	/* of the hash */
	uint32_t block; /* 0 or one more than an index */
};

struct fuse_blocks {
	uint8_t *filter; /* owned; whether a hash came up once, or more often */
	size_t n_filter;
	struct fuse_block *list; /* owned */
	size_t n, cap;
	struct fuse_slot *slots; /* owned */
	size_t n_slots;
	uint32_t *price;	   /* owned; by block */
	struct fuse_offer *offers; /* owned; of all lines, one after the other */
	size_t n_offers, cap_offers;
	uint64_t alone; /* bytes of whole functions that nobody can share */
};

/* Some of the pieces of a line that are worth a thought. whole: all of a function. */
struct fuse_lot {
	struct fuse_piece piece[64];
	bool whole[64];
	size_t n;
};

/* Calls back with all of them, in the order of their ends. */
ATTR_MUST_CHECK bool fuse_blocks_walk(const struct fuse *fuse, struct fuse_blocks *blocks,
	bool (*f)(struct fuse_blocks *, const struct fuse_lot *));
/* First which hashes come up more often than once, then the blocks and who could use
 * them. */
bool fuse_blocks_filter(struct fuse_blocks *blocks, const struct fuse_lot *lot);
bool fuse_blocks_collect(struct fuse_blocks *blocks, const struct fuse_lot *lot);
ATTR_MUST_CHECK bool fuse_blocks_init(struct fuse_blocks *blocks, size_t n_funcs);
void fuse_blocks_deinit(struct fuse_blocks *blocks);

#endif
