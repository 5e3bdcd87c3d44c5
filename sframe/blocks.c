/* SPDX-License-Identifier: MIT */
/* The blocks of rows behind row sharing. */
#include "sframe/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/vec.h"

bool sf_blocks_expect(struct sf_blocks *blocks, size_t n, bool share)
{
	/* At most half as many blocks as functions are expected with sharing. */
	return vec_reserve(&blocks->list, &blocks->cap, share ? n / 2 : n) &&
	       (!share || slots_reserve(&blocks->slots, n / 2 + 1));
}

/* The slot of an equal block, or the free one where its like belongs. */
static struct slot *blocks_find(
    const struct sf_blocks *blocks, const struct wr *wr, const struct sf_block *block)
{
	struct slot *slot = slots_first(&blocks->slots, block->hash);

	for (; slot->number; slot = slots_next(&blocks->slots, slot)) {
		const struct sf_block *other = &blocks->list[slot->number - 1];

		if (slot->hash == block->hash && other->len == block->len &&
		    !memcmp(wr->data + other->off, wr->data + block->off, block->len))
			break;
	}
	return slot;
}

bool sf_blocks_keep(struct sf_blocks *blocks, struct wr *wr, size_t off, uint32_t *ret)
{
	struct sf_block block = {.off = off};
	struct slot *slot = NULL;

	if (!num_u32(wr->size - off, &block.len) || !num_u32(blocks->n, ret) ||
	    *ret == UINT32_MAX ||
	    !vec_reserve(&blocks->list, &blocks->cap, blocks->n + 1))
		return false;
	if (blocks->slots.cap && block.len) {
		block.hash = (uint32_t)hash_bytes(wr->data + off, block.len);
		if (!slots_reserve(&blocks->slots, blocks->n + 1))
			return false;
		slot = blocks_find(blocks, wr, &block);
	}
	if (slot && slot->number) {
		wr->size = off;
		*ret = slot->number - 1;
		return true;
	}
	if (slot)
		*slot = (struct slot){block.hash, *ret + 1};
	blocks->list[blocks->n++] = block;
	return true;
}

void sf_blocks_deinit(struct sf_blocks *blocks)
{
	free(blocks->list);
	free(blocks->slots.list);
	*blocks = (struct sf_blocks){0};
}
