/* SPDX-License-Identifier: MIT */
/*
 * Blocks that others begin with. Sorted as texts are, a block stands right before those
 * that begin with it, so one look at the neighbour finds them all.
 */
#include "sframe/blocks.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	/* The first bytes, so that most comparisons need no others. */
	uint64_t key[2];
	const uint8_t *data;
	uint32_t len;
	uint32_t number;
};

/* Eight bytes from off on; of a block that ends before, zeros. */
static uint64_t key_of(const struct entry *entry, size_t off)
{
	uint64_t key = 0;

	if (entry->len >= off + sizeof(key)) {
		memcpy(&key, entry->data + off, sizeof(key));
		return be64toh(key);
	}
	for (size_t i = off; i < off + sizeof(key); i++)
		key = key << 8 | (i < entry->len ? entry->data[i] : 0);
	return key;
}

static int fold_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order;

	for (int i = 0; i < 2; i++) {
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	}
	order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
	if (order != 0)
		return order;
	return x->len < y->len ? -1 : x->len > y->len;
}

static bool begins_with(const struct entry *block, const struct entry *prefix)
{
	return prefix->len <= block->len &&
	       memcmp(block->data, prefix->data, prefix->len) == 0;
}

/* Gives each block, by its number, the one whose bytes stand for it; one that stays is its own. */
static void find_homes(const struct entry *entries, size_t n, uint32_t *homes)
{
	for (size_t i = n; i-- > 0;) {
		const struct entry *next = &entries[i + 1];

		homes[entries[i].number] = i + 1 < n && begins_with(next, &entries[i])
					       ? homes[next->number]
					       : entries[i].number;
	}
}

static void close_up(struct sf_blocks *blocks, struct wr *wr, const uint32_t *homes)
{
	size_t to = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		struct sf_block *block = &blocks->list[i];

		if (homes[i] != i)
			continue;
		memmove(wr->data + to, wr->data + block->off, block->len);
		block->off = to;
		to += block->len;
	}
	wr->size = to;
	for (size_t i = 0; i < blocks->n; i++)
		blocks->list[i].off = blocks->list[homes[i]].off;
}

/* All blocks, sorted, which the caller frees; NULL without memory. */
static struct entry *sorted_blocks(const struct sf_blocks *blocks, const struct wr *wr)
{
	struct entry *entries = malloc((blocks->n + 1) * sizeof(*entries));

	for (size_t i = 0; entries && i < blocks->n; i++) {
		struct entry *entry = &entries[i];

		entry->data = wr->data + blocks->list[i].off;
		entry->len = blocks->list[i].len;
		entry->number = (uint32_t)i; /* sf_blocks_keep counts in 32 bits */
		entry->key[0] = key_of(entry, 0);
		entry->key[1] = key_of(entry, sizeof(entry->key[0]));
	}
	if (entries)
		qsort(entries, blocks->n, sizeof(*entries), fold_compare);
	return entries;
}

bool sf_blocks_fold(struct sf_blocks *blocks, struct wr *wr)
{
	uint32_t *homes = malloc((blocks->n + 1) * sizeof(*homes));
	struct entry *entries = homes ? sorted_blocks(blocks, wr) : NULL;
	const bool ok = entries;

	if (ok) {
		find_homes(entries, blocks->n, homes);
		close_up(blocks, wr, homes);
	}
	free(entries);
	free(homes);
	return ok;
}
