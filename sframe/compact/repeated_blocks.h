/* SPDX-License-Identifier: MIT */
/* Inside the optimiser: the pieces that occur more than once, each by its hash. */
#ifndef SFRAME_COMPACT_REPEATED_BLOCKS_H
#define SFRAME_COMPACT_REPEATED_BLOCKS_H

#include "base/hash.h"
#include "sframe/compact/cut.h"

struct compact_block {
	uint64_t hash;
	size_t rows;	/* one more than where they are in the new model; 0 before */
	uint32_t len;	/* bytes, if it is stored */
	uint32_t users; /* pieces that could use it, later those that do in a trial */
	bool whole;	/* it is all of a function */
};

struct compact_blocks {
	uint8_t *filter; /* owned; whether a hash came up once, or more often */
	size_t n_filter;
	struct compact_block *list; /* owned */
	size_t n, cap;
	struct slots slots; /* owned */
	struct hash_key key;
	uint32_t *price;	      /* owned; by block; what another user of it pays */
	struct compact_offer *offers; /* owned; of all lines, one after the other */
	size_t n_offers, cap_offers;
	size_t n_whole;	      /* functions */
	uint64_t whole_bytes; /* of their rows as they are, shared ones once */
};

/* Some pieces of a line that may be worth sharing. whole: all of a function. */
struct compact_candidates {
	struct compact_piece piece[64];
	bool whole[64];
	size_t n;
};

/* Calls f with all candidates, in the order of their ends. */
ATTR_MUST_CHECK bool compact_blocks_walk(const struct compact *compact,
    struct compact_blocks *blocks,
    bool (*f)(struct compact_blocks *, const struct compact_candidates *));
/* The two callbacks, in this order: notes which hashes come up more than once; then
 * collects their blocks and the pieces that could use them. */
bool compact_blocks_filter(
    struct compact_blocks *blocks, const struct compact_candidates *candidates);
bool compact_blocks_collect(
    struct compact_blocks *blocks, const struct compact_candidates *candidates);
/* Sets prices: each user of a block pays an equal share. The users are counted anew from here on. */
ATTR_MUST_CHECK bool compact_blocks_set_prices(struct compact_blocks *blocks);
ATTR_MUST_CHECK bool compact_blocks_init(struct compact_blocks *blocks, size_t n_funcs);
void compact_blocks_deinit(struct compact_blocks *blocks);

#endif
