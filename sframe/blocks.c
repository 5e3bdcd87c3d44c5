/* SPDX-License-Identifier: MIT */
/* The hash table behind row sharing; linear probing, at most half full. */
#include "sframe/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/vec.h"

enum { FIRST_SLOTS = 1024, JOIN_AHEAD = 8 };

struct sf_block_slot {
	uint32_t hash;
	uint32_t number; /* index into the list and one; 0: a free slot */
};

bool sf_blocks_expect(struct sf_blocks *blocks, size_t n, bool share)
{
	size_t n_slots = FIRST_SLOTS;

	/* Shared ones are half as many as functions, or less. */
	if (!vec_reserve(&blocks->list, &blocks->cap, share ? n / 2 : n))
		return false;
	if (!share)
		return true;
	while (n_slots < n)
		n_slots *= 2;
	blocks->slots = calloc(n_slots, sizeof(*blocks->slots));
	blocks->n_slots = blocks->slots ? n_slots : 0;
	return blocks->slots;
}

/* Hashes are kept, so that growing need not read the blocks again. */
static bool blocks_enlarge(struct sf_blocks *blocks)
{
	size_t n_slots = blocks->n_slots * 2;
	struct sf_block_slot *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < blocks->n_slots; i++) {
		size_t at = blocks->slots[i].hash & (n_slots - 1);

		if (!blocks->slots[i].number)
			continue;
		while (slots[at].number)
			at = (at + 1) & (n_slots - 1);
		slots[at] = blocks->slots[i];
	}
	free(blocks->slots);
	blocks->slots = slots;
	blocks->n_slots = n_slots;
	return true;
}

/* The slot of an equal block, or the free one where its like belongs. */
static struct sf_block_slot *blocks_find(
    const struct sf_blocks *blocks, const struct wr *wr, const struct sf_block *block)
{
	size_t at = block->hash & (blocks->n_slots - 1);

	for (; blocks->slots[at].number; at = (at + 1) & (blocks->n_slots - 1)) {
		const struct sf_block_slot *slot = &blocks->slots[at];
		const struct sf_block *other = &blocks->list[slot->number - 1];

		if (slot->hash == block->hash && other->len == block->len &&
		    !memcmp(wr->data + other->off, wr->data + block->off, block->len))
			break;
	}
	return &blocks->slots[at];
}

/* The block is at the end of wr. */
static bool blocks_keep(
    struct sf_blocks *blocks, struct wr *wr, const struct sf_block *block, uint32_t *ret)
{
	struct sf_block_slot *slot = NULL;

	if (!num_u32(blocks->n, ret) || *ret == UINT32_MAX ||
	    !vec_reserve(&blocks->list, &blocks->cap, blocks->n + 1))
		return false;
	if (blocks->slots && block->len) {
		if (blocks->n >= blocks->n_slots / 2 && !blocks_enlarge(blocks))
			return false;
		slot = blocks_find(blocks, wr, block);
	}
	if (slot && slot->number) {
		wr->size = block->off;
		*ret = slot->number - 1;
		return true;
	}
	if (slot)
		*slot = (struct sf_block_slot){block->hash, *ret + 1};
	blocks->list[blocks->n++] = *block;
	return true;
}

bool sf_blocks_keep(struct sf_blocks *blocks, struct wr *wr, size_t off, uint32_t *ret)
{
	struct sf_block block = {.off = off};

	if (!num_u32(wr->size - off, &block.len))
		return false;
	if (blocks->slots)
		block.hash = (uint32_t)hash_bytes(wr->data + off, block.len);
	return blocks_keep(blocks, wr, &block, ret);
}

bool sf_blocks_join(struct sf_blocks *blocks, struct wr *wr, struct sf_blocks *from,
    const struct wr *from_wr)
{
	for (size_t i = 0; i < from->n; i++) {
		struct sf_block block = from->list[i];
		uint32_t kept;

		/* The table is in no cache, and it is known what will be asked of it. */
		if (blocks->slots && from->n - i > JOIN_AHEAD)
			__builtin_prefetch(
			    &blocks->slots[from->list[i + JOIN_AHEAD].hash &
					   (blocks->n_slots - 1)]);
		wr_bytes(wr, from_wr->data + block.off, block.len);
		block.off = wr->size - block.len;
		if (wr->failed || !blocks_keep(blocks, wr, &block, &kept))
			return false;
		from->list[i].off = kept;
	}
	return true;
}

void sf_blocks_deinit(struct sf_blocks *blocks)
{
	free(blocks->list);
	free(blocks->slots);
	*blocks = (struct sf_blocks){0};
}
