/* SPDX-License-Identifier: MIT */
/*
 * Keeps equal byte blocks of one buffer once: an open-addressing hash table of the blocks
 * stored so far. Which block is found depends on the bytes only, so equal input gives
 * equal output.
 */
#ifndef SFRAME_BLOCKS_H
#define SFRAME_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/wr.h"

struct sf_block;

struct sf_blocks {
	struct sf_block *slots; /* owned; cap is a power of two, or 0 */
	size_t n, cap;
};

/* Makes room in a zeroed struct for n functions, whose blocks are fewer. False when
 * memory runs out. */
ATTR_MUST_CHECK bool sf_blocks_expect(struct sf_blocks *blocks, size_t n);

/*
 * The block [off, wr->size) was just written at the end of wr. When an equal block is stored already, takes the new one off wr again.
 * *ret is where the one block that stays begins. Blocks that start past 4 GiB are not
 * looked for. False when memory runs out.
 */
ATTR_MUST_CHECK bool sf_blocks_keep(
	struct sf_blocks *blocks, struct wr *wr, size_t off, size_t *ret);
void sf_blocks_deinit(struct sf_blocks *blocks);

#endif
