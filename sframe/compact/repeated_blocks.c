/* SPDX-License-Identifier: MIT */
/* Finding the pieces that occur more than once. */
#include "sframe/compact/repeated_blocks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

/* A piece is searched for between a mark and the next SPAN marks; below WORTH rows it is
 * cheaper as a part of its neighbour. */
enum { SPAN = 6, WORTH = 4 };

struct repeats_walk {
	const struct compact *compact;
	struct compact_blocks *blocks;
	bool (*f)(struct compact_blocks *, const struct compact_candidates *);
	struct compact_candidates candidates;
};

static bool walk_flush(struct repeats_walk *walk)
{
	bool ok = walk->f(walk->blocks, &walk->candidates);

	walk->candidates.n = 0;
	return ok;
}

static bool walk_add(struct repeats_walk *walk, uint32_t from, uint32_t to, bool whole)
{
	struct compact_candidates *candidates = &walk->candidates;

	candidates->piece[candidates->n] = compact_piece_at(walk->compact, from, to);
	candidates->whole[candidates->n++] = whole;
	return candidates->n < sizeof(candidates->whole) || walk_flush(walk);
}

/* The pieces that end at mark number i of the line. */
static bool walk_end(struct repeats_walk *walk, size_t i)
{
	const struct compact_line *line = &walk->compact->line;
	uint32_t to = line->marks[i], begin = line->list[to - 1].begin;
	uint32_t chain = line->list[to - 1].chain;
	bool whole_may = compact_begins(line, to);

	for (size_t j = i; j-- > 0 && line->marks[j] >= chain;) {
		uint32_t from = line->marks[j], rows = compact_rows(line, from, to);
		bool whole = whole_may && from == begin, far;

		far = i - j > SPAN ||
		      (rows > walk->compact->options->max_rows && from < begin);
		if (far && (!whole_may || from < begin))
			break;
		if ((whole || (!far && rows >= WORTH)) &&
		    !walk_add(walk, from, to, whole))
			return false;
	}
	return true;
}

bool compact_blocks_walk(const struct compact *compact, struct compact_blocks *blocks,
    bool (*f)(struct compact_blocks *, const struct compact_candidates *))
{
	struct repeats_walk walk = {.compact = compact, .blocks = blocks, .f = f};

	for (size_t i = 1; i < compact->line.n_marks; i++) {
		if (!walk_end(&walk, i))
			return false;
	}
	return walk_flush(&walk);
}

bool compact_blocks_init(struct compact_blocks *blocks, size_t n_funcs)
{
	blocks->key = hash_key();
	blocks->n_filter = 1 << 16;
	while (blocks->n_filter < n_funcs * 16)
		blocks->n_filter *= 2;
	blocks->filter = calloc(blocks->n_filter, sizeof(*blocks->filter));
	return blocks->filter;
}

/* Uses bits of the hash other than those by which the table of blocks places its entries. */
static uint8_t *filter_at(
    struct compact_blocks *blocks, const struct compact_piece *piece)
{
	return &blocks->filter[piece->hash >> 32 & (blocks->n_filter - 1)];
}

/* Fetches all entries at once, because the tables are too large for a cache. */
static void filter_fetch(
    struct compact_blocks *blocks, const struct compact_candidates *candidates)
{
	for (size_t i = 0; i < candidates->n; i++)
		__builtin_prefetch(filter_at(blocks, &candidates->piece[i]), 1);
}

bool compact_blocks_filter(
    struct compact_blocks *blocks, const struct compact_candidates *candidates)
{
	filter_fetch(blocks, candidates);
	for (size_t i = 0; i < candidates->n; i++) {
		uint8_t *times = filter_at(blocks, &candidates->piece[i]);

		if (*times < 2)
			++*times;
	}
	return true;
}

/* The hash of a piece is the same in each process, as the result depends on it. */
static uint32_t block_hash(
    const struct compact_blocks *blocks, const struct compact_piece *piece)
{
	return hash_fold_by(blocks->key, piece->hash);
}

bool compact_blocks_set_prices(struct compact_blocks *blocks)
{
	if (!blocks->price)
		blocks->price = malloc((blocks->n + 1) * sizeof(*blocks->price));
	for (size_t i = 0; blocks->price && i < blocks->n; i++) {
		struct compact_block *block = &blocks->list[i];
		uint64_t price = (uint64_t)block->len * COMPACT_BYTE;

		price /= block->users ? block->users : 1;
		blocks->price[i] = price < UINT32_MAX ? (uint32_t)price : UINT32_MAX;
		block->users = 0;
	}
	return blocks->price;
}

static bool block_find(
    struct compact_blocks *blocks, const struct compact_piece *piece, uint32_t *out)
{
	uint32_t hash = block_hash(blocks, piece);
	struct slot *slot;

	if (!slots_reserve(&blocks->slots, blocks->n + 1))
		return false;
	slot = slots_first(&blocks->slots, hash);
	while (slot->number &&
	       (slot->hash != hash || blocks->list[slot->number - 1].hash != piece->hash))
		slot = slots_next(&blocks->slots, slot);
	if (!slot->number) {
		if (!vec_reserve(&blocks->list, &blocks->cap, blocks->n + 1))
			return false;
		blocks->list[blocks->n++] =
		    (struct compact_block){.hash = piece->hash, .len = piece->len};
		*slot = (struct slot){hash, (uint32_t)blocks->n};
	}
	*out = slot->number - 1;
	return true;
}

static bool collect_one(
    struct compact_blocks *blocks, const struct compact_piece *piece, bool whole)
{
	struct compact_offer offer = {.from = piece->from, .to = piece->to};
	struct compact_block *block;

	blocks->n_whole += whole;
	if (*filter_at(blocks, piece) < 2) {
		blocks->whole_bytes += whole ? piece->len : 0;
		return true;
	}
	if (!block_find(blocks, piece, &offer.block) ||
	    !vec_reserve(&blocks->offers, &blocks->cap_offers, blocks->n_offers + 1))
		return false;
	block = &blocks->list[offer.block];
	block->users++;
	if (whole && !block->whole) {
		block->whole = true;
		blocks->whole_bytes += piece->len;
	}
	blocks->offers[blocks->n_offers++] = offer;
	return true;
}

bool compact_blocks_collect(
    struct compact_blocks *blocks, const struct compact_candidates *candidates)
{
	filter_fetch(blocks, candidates);
	for (size_t i = 0; i < candidates->n && blocks->slots.cap; i++)
		if (*filter_at(blocks, &candidates->piece[i]) >= 2)
			__builtin_prefetch(slots_first(
			    &blocks->slots, block_hash(blocks, &candidates->piece[i])));
	for (size_t i = 0; i < candidates->n; i++) {
		if (!collect_one(blocks, &candidates->piece[i], candidates->whole[i]))
			return false;
	}
	return true;
}

void compact_blocks_deinit(struct compact_blocks *blocks)
{
	free(blocks->filter);
	free(blocks->list);
	free(blocks->slots.list);
	free(blocks->price);
	free(blocks->offers);
}
