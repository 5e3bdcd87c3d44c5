/* SPDX-License-Identifier: MIT */
/* The hash table behind row sharing; linear probing, at most half full. */
#include "sframe/blocks.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 1024 };

struct sf_block {
	uint64_t hash;
	size_t off;
	size_t len; /* 0: a free slot */
};

/* Multiplies eight bytes at a time; the seed is fixed so that output does not vary. */
static uint64_t hash_bytes(const uint8_t *p, size_t len)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t h = len * factor, chunk;

	while (len >= sizeof(chunk)) {
		memcpy(&chunk, p, sizeof(chunk));
		h = (h ^ chunk) * factor;
		h ^= h >> 32;
		p += sizeof(chunk);
		len -= sizeof(chunk);
	}
	chunk = 0;
	if (len)
		memcpy(&chunk, p, len);
	h = (h ^ chunk) * factor;
	return h ^ h >> 32;
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
	struct sf_block *slot;
	uint64_t hash;

	*ret = off;
	if (len == 0)
		return true;
	if (blocks->n >= blocks->cap / 2 && !grow(blocks))
		return false;
	hash = hash_bytes(wr->data + off, len);
	for (at = hash & (blocks->cap - 1); blocks->slots[at].len;
		at = (at + 1) & (blocks->cap - 1)) {
		slot = &blocks->slots[at];
		if (slot->hash != hash || slot->len != len ||
			memcmp(wr->data + slot->off, wr->data + off, len) != 0)
			continue;
		wr->size = off;
		*ret = slot->off;
		return true;
	}
	blocks->slots[at] = (struct sf_block){.hash = hash, .off = off, .len = len};
	blocks->n++;
	return true;
}

void sf_blocks_deinit(struct sf_blocks *blocks)
{
	free(blocks->slots);
	*blocks = (struct sf_blocks){0};
}
