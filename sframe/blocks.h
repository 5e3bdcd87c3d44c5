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

/*
 * The block [off, wr->size) was just written at the end of wr, at most UINT32_MAX bytes
 * from its start. When an equal block is stored already, takes the new one off wr again.
 * *ret is where the one block that stays begins. False when memory runs out.
 */
ATTR_MUST_CHECK bool sf_blocks_keep(
	struct sf_blocks *blocks, struct wr *wr, size_t off, size_t *ret);
void sf_blocks_deinit(struct sf_blocks *blocks);

#endif
