/* SPDX-License-Identifier: MIT */
/* The hash table behind row sharing; linear probing, at most half full. */
#include "sframe/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"

enum { FIRST_CAP = 1024 };

struct sf_block {
	uint32_t hash, off;
	uint32_t len; /* 0: a free slot */
};

bool sf_blocks_expect(struct sf_blocks *blocks, size_t n)
{
	size_t cap = FIRST_CAP;

	while (cap < n)
		cap *= 2;
	blocks->slots = calloc(cap, sizeof(*blocks->slots));
	blocks->cap = blocks->slots ? cap : 0;
	return blocks->slots;
}

/* Hashes are kept, so that growing need not read the blocks again. */
static bool grow(struct sf_blocks *blocks)
{
	size_t cap = blocks->cap ? blocks->cap * 2 : FIRST_CAP;
	struct sf_block *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < blocks->cap; i++) {
		size_t at = blocks->slots[i].hash & (cap - 1);

		if (!blocks->slots[i].len)
			continue;
		while (slots[at].len)
			at = (at + 1) & (cap - 1);
		slots[at] = blocks->slots[i];
	}
	free(blocks->slots);
	blocks->slots = slots;
	blocks->cap = cap;
	return true;
}

bool sf_blocks_keep(struct sf_blocks *blocks, struct wr *wr, size_t off, size_t *ret)
{
	size_t len = wr->size - off, at;
	struct sf_block block, *slot;

	*ret = off;
	if (len == 0 || !num_u32(off, &block.off) || !num_u32(len, &block.len))
		return true;
	if (blocks->n >= blocks->cap / 2 && !grow(blocks))
		return false;
	block.hash = (uint32_t)hash_bytes(wr->data + off, len);
	for (at = block.hash & (blocks->cap - 1); blocks->slots[at].len;
		at = (at + 1) & (blocks->cap - 1)) {
		slot = &blocks->slots[at];
		if (slot->hash != block.hash || slot->len != block.len ||
			memcmp(wr->data + slot->off, wr->data + off, len) != 0)
			continue;
		wr->size = off;
		*ret = slot->off;
		return true;
	}
	blocks->slots[at] = block;
	blocks->n++;
	return true;
}

void sf_blocks_deinit(struct sf_blocks *blocks)
{
	free(blocks->slots);
	*blocks = (struct sf_blocks){0};
}
