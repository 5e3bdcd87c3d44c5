/* SPDX-License-Identifier: MIT */
/*
 * Blocks of rows in one buffer, in the order in which they were stored. On request equal
 * blocks are stored once: a hash table finds them. Which block is found depends on the
 * bytes only, so equal input gives equal output.
 */
#ifndef SFRAME_BLOCKS_H
#define SFRAME_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hash_slots.h"
#include "base/wr.h"

struct sf_block {
	size_t off; /* in the buffer */
	uint32_t len;
	uint32_t hash; /* of its bytes, where blocks are shared */
};

struct sf_blocks {
	struct sf_block *list; /* owned; by ascending off */
	size_t n, cap;
	struct slots slots; /* owned; empty where blocks are not shared */
};

/* Makes room in a zeroed struct for the blocks of n functions, to be shared or not. False
 * when memory runs out. */
ATTR_MUST_CHECK bool sf_blocks_expect(struct sf_blocks *blocks, size_t n, bool share);

/*
 * The block [off, wr->size) was just written at the end of wr. When blocks are shared and
 * an equal one is stored already, takes the new one off wr again. *ret is the index of
 * the one that stays. False when memory runs out, or when blocks are more, or one is
 * longer, than 32 bits can count.
 */
ATTR_MUST_CHECK bool sf_blocks_keep(
    struct sf_blocks *blocks, struct wr *wr, size_t off, uint32_t *ret);

/*
 * Removes from wr, which holds all blocks and nothing else, each block with which another one begins:
 * its off becomes that of the other. False when memory runs out, with nothing changed.
 */
ATTR_MUST_CHECK bool sf_blocks_fold(struct sf_blocks *blocks, struct wr *wr);
void sf_blocks_deinit(struct sf_blocks *blocks);

#endif
