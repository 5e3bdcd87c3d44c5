/* SPDX-License-Identifier: MIT */
/* Finding the pieces that occur more than once. */
#include "sframe/fuse_blocks.h"

#include <stdlib.h>

#include "base/vec.h"

/* A piece is looked for between a mark and one of so many behind it; below so many rows
 * it is cheaper as a part of its neighbour. */
enum { SPAN = 6, WORTH = 4 };

/* The pieces that end at mark number i of the line. */
static bool walk_end(const struct fuse *fuse, size_t i,
	bool (*f)(void *, const struct fuse_piece *, bool), void *context)
{
	const struct fuse_line *line = &fuse->line;
	uint32_t to = line->marks[i], begin = line->list[to - 1].begin;
	bool whole_may = fuse_begins(line, to);

	for (size_t j = i; j-- > 0;) {
		uint32_t from = line->marks[j];
		bool whole = whole_may && from == begin, far;
		struct fuse_piece piece;
		uint32_t rows;

		if (from < line->list[to - 1].chain)
			break;
		rows = fuse_rows(line, from, to);
		far = i - j > SPAN || (rows > fuse->options->max_rows && from < begin);
		if (far && (!whole_may || from < begin))
			break;
		if (!whole && (far || rows < WORTH))
			continue;
		piece = fuse_piece_at(fuse, from, to);
		if (!f(context, &piece, whole))
			return false;
	}
	return true;
}

bool fuse_blocks_walk(const struct fuse *fuse,
	bool (*f)(void *, const struct fuse_piece *, bool), void *context)
{
	for (size_t i = 1; i < fuse->line.n_marks; i++) {
		if (!walk_end(fuse, i, f, context))
			return false;
	}
	return true;
}

bool fuse_blocks_init(struct fuse_blocks *blocks, size_t n_funcs)
{
	blocks->n_filter = 1 << 16;
	while (blocks->n_filter < n_funcs * 16)
		blocks->n_filter *= 2;
	blocks->filter = calloc(blocks->n_filter, sizeof(*blocks->filter));
	return blocks->filter;
}

/* Bits of the hash that the table of blocks does not begin with. */
static uint8_t *filter_at(struct fuse_blocks *blocks, const struct fuse_piece *piece)
{
	return &blocks->filter[piece->hash >> 32 & (blocks->n_filter - 1)];
}

bool fuse_blocks_filter(void *context, const struct fuse_piece *piece, bool whole)
{
	uint8_t *times = filter_at(context, piece);

	(void)whole;
	if (*times < 2)
		++*times;
	return true;
}

static bool blocks_grow(struct fuse_blocks *blocks)
{
	size_t n = blocks->n_slots ? blocks->n_slots * 2 : 1024;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < blocks->n; i++) {
		size_t at = blocks->list[i].hash & (n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(blocks->slots);
	blocks->slots = slots;
	blocks->n_slots = n;
	return true;
}

static bool block_find(
	struct fuse_blocks *blocks, const struct fuse_piece *piece, uint32_t *out)
{
	size_t at;

	if (blocks->n >= blocks->n_slots / 2 && !blocks_grow(blocks))
		return false;
	at = piece->hash & (blocks->n_slots - 1);
	while (blocks->slots[at] &&
		blocks->list[blocks->slots[at] - 1].hash != piece->hash)
		at = (at + 1) & (blocks->n_slots - 1);
	if (!blocks->slots[at]) {
		if (!vec_reserve(&blocks->list, &blocks->cap, blocks->n + 1))
			return false;
		blocks->list[blocks->n++] =
			(struct fuse_block){.hash = piece->hash, .len = piece->len};
		blocks->slots[at] = (uint32_t)blocks->n;
	}
	*out = blocks->slots[at] - 1;
	return true;
}

bool fuse_blocks_collect(void *context, const struct fuse_piece *piece, bool whole)
{
	struct fuse_blocks *blocks = context;
	struct fuse_offer offer = {.from = piece->from, .to = piece->to};

	if (*filter_at(blocks, piece) < 2) {
		blocks->alone += whole ? piece->len : 0;
		return true;
	}
	if (!block_find(blocks, piece, &offer.block) ||
		!vec_reserve(&blocks->offers, &blocks->cap_offers, blocks->n_offers + 1))
		return false;
	blocks->list[offer.block].seen++;
	blocks->list[offer.block].used += whole;
	blocks->offers[blocks->n_offers++] = offer;
	return true;
}

void fuse_blocks_deinit(struct fuse_blocks *blocks)
{
	free(blocks->filter);
	free(blocks->list);
	free(blocks->slots);
	free(blocks->price);
	free(blocks->offers);
}
