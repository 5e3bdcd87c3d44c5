/* SPDX-License-Identifier: MIT */
/*
 * The optimiser's recipe. What a shared block costs depends on how many share it, which
 * is known only afterwards: so the cuts are made several times, each time at the prices
 * that follow from the time before, and the cheapest of all is taken.
 */
#include "sframe/fuse.h"

#include <stdlib.h>

#include "base/vec.h"
#include "sframe/fuse_blocks.h"

/* More gain less than a thousandth. */
enum { FUSE_ROUNDS = 3 };

struct part {
	uint32_t from, to; /* elements of its line */
	uint32_t block;
};

/* The pieces of all lines; in each line from the last on. */
struct solution {
	struct part *parts; /* owned */
	size_t n, cap;
	uint64_t cost;
};

struct stage {
	struct fuse fuse;
	struct fuse_blocks blocks;
	size_t *line_offers; /* owned; where the offers of each line end */
	size_t n_lines, cap_lines;
	struct fuse_cut cut;
	struct solution now, best;
	/* What comes out: */
	struct sf_section *section;
	struct sf_func *funcs; /* owned */
	size_t n_funcs, cap_funcs;
	size_t *rows_of; /* owned; by block, one more than where its rows are */
	size_t cursor;	 /* functions of the model that are done */
	uint64_t padding;
};

/* ---- cuts and their cost ---- */

static bool solve_line(struct stage *stage, size_t i)
{
	struct solution *now = &stage->now;
	size_t first = i ? stage->line_offers[i - 1] : 0;

	if (!fuse_cut_line(&stage->fuse, stage->blocks.offers + first,
		    stage->line_offers[i] - first, stage->blocks.price, &stage->cut))
		return false;
	for (uint32_t to = (uint32_t)stage->fuse.line.n; to > 0;
		to = stage->cut.from[to]) {
		if (!vec_reserve(&now->parts, &now->cap, now->n + 1))
			return false;
		now->parts[now->n++] =
			(struct part){stage->cut.from[to], to, stage->cut.block[to]};
	}
	return true;
}

/* What the pieces from number first on cost, all others being there. */
static void count_parts(struct stage *stage, size_t first)
{
	struct solution *now = &stage->now;

	for (size_t i = first; i < now->n; i++) {
		const struct part *part = &now->parts[i];

		now->cost += stage->fuse.piece_len;
		if (part->block == FUSE_NO_BLOCK)
			now->cost +=
				fuse_piece_at(&stage->fuse, part->from, part->to).len;
		else if (stage->blocks.list[part->block].used++ == 0)
			now->cost += stage->blocks.list[part->block].len;
	}
}

static bool solve(struct stage *stage)
{
	size_t first = 0;

	stage->now.cost = 0;
	stage->now.n = 0;
	for (size_t i = 0; i < stage->blocks.n; i++)
		stage->blocks.list[i].used = 0;
	for (size_t i = 0; i < stage->n_lines; i++, first = stage->fuse.line.end) {
		size_t before = stage->now.n;

		if (!fuse_line_read(&stage->fuse, first) || !solve_line(stage, i))
			return false;
		count_parts(stage, before);
	}
	return true;
}

/* Each user of a block pays an equal part; at first everybody counts who could. */
static void set_prices(struct stage *stage, int round)
{
	for (size_t i = 0; i < stage->blocks.n; i++) {
		const struct fuse_block *block = &stage->blocks.list[i];
		uint32_t users = round ? block->used : block->seen;
		uint64_t price = (uint64_t)block->len * FUSE_BYTE;

		price /= users ? users : 1;
		stage->blocks.price[i] =
			price < UINT32_MAX ? (uint32_t)price : UINT32_MAX;
	}
}

static bool prepare(struct stage *stage)
{
	struct fuse *fuse = &stage->fuse;
	size_t n_funcs = fuse->section->n_funcs;

	if (!fuse_kinds_read(fuse) || !fuse_blocks_init(&stage->blocks, n_funcs))
		return false;
	for (size_t first = 0; first < n_funcs; first = fuse->line.end) {
		if (!fuse_line_read(fuse, first) ||
			!fuse_blocks_walk(fuse, &stage->blocks, fuse_blocks_filter))
			return false;
	}
	for (size_t first = 0; first < n_funcs; first = fuse->line.end) {
		if (!fuse_line_read(fuse, first) ||
			!fuse_blocks_walk(fuse, &stage->blocks, fuse_blocks_collect) ||
			!vec_reserve(&stage->line_offers, &stage->cap_lines,
				stage->n_lines + 1))
			return false;
		stage->line_offers[stage->n_lines++] = stage->blocks.n_offers;
	}
	stage->blocks.price = calloc(stage->blocks.n + 1, sizeof(*stage->blocks.price));
	stage->rows_of = calloc(stage->blocks.n + 1, sizeof(*stage->rows_of));
	return stage->blocks.price && stage->rows_of;
}

/* What the functions cost as they are. */
static uint64_t cost_before(const struct stage *stage)
{
	const struct sf_section *section = stage->fuse.section;
	uint64_t cost = stage->blocks.alone;

	for (size_t i = 0; i < section->n_funcs; i++)
		if (fuse_movable(&stage->fuse, &section->funcs[i]))
			cost += stage->fuse.piece_len;
	for (size_t i = 0; i < stage->blocks.n; i++)
		if (stage->blocks.list[i].used)
			cost += stage->blocks.list[i].len;
	return cost;
}

/* ---- the new model ---- */

static bool put_func(struct stage *stage, const struct sf_func *func)
{
	if (!vec_reserve(&stage->funcs, &stage->cap_funcs, stage->n_funcs + 1))
		return false;
	stage->funcs[stage->n_funcs++] = *func;
	return true;
}

/* The functions before number end that stay as they are. */
static bool put_others(struct stage *stage, size_t end)
{
	for (; stage->cursor < end; stage->cursor++) {
		const struct sf_func *func = &stage->section->funcs[stage->cursor];

		if (!fuse_movable(&stage->fuse, func) && !put_func(stage, func))
			return false;
	}
	return true;
}

static bool same_rows(const struct sf_section *section, size_t a, size_t b, uint32_t n)
{
	const struct sf_row *x = section->rows + a, *y = section->rows + b;

	for (uint32_t i = 0; i < n; i++) {
		if (x[i].start != y[i].start || !sf_row_same(&x[i], &y[i]))
			return false;
	}
	return true;
}

static bool put_rows(struct stage *stage, uint32_t from, uint32_t to)
{
	const struct fuse_element *list = stage->fuse.line.list;
	struct sf_section *section = stage->section;

	for (uint32_t i = from; i < to; i++) {
		struct sf_row row = stage->fuse.kinds.list[list[i].kind].row;

		if (i != from && !list[i].counted)
			continue;
		row.start = (uint32_t)(list[i].addr - list[from].addr);
		if (!vec_reserve(&section->rows, &section->cap_rows, section->n_rows + 1))
			return false;
		section->rows[section->n_rows++] = row;
	}
	return true;
}

/* Padding in front of the functions that begin inside of the piece. */
static uint64_t padding_in(const struct stage *stage, uint32_t from, uint32_t to)
{
	const struct sf_func *funcs = stage->section->funcs;
	const struct fuse_element *list = stage->fuse.line.list;
	uint64_t padding = 0;

	for (uint32_t i = list[from].func + 1; i <= list[to - 1].func; i++)
		padding += funcs[i].start - funcs[i - 1].start - funcs[i - 1].size;
	return padding;
}

static bool put_part(struct stage *stage, const struct part *part)
{
	uint32_t from = part->from, to = part->to;
	const struct fuse_line *line = &stage->fuse.line;
	const struct sf_func *last = &stage->section->funcs[line->list[to - 1].func];
	struct sf_section *section = stage->section;
	struct sf_func func = section->funcs[line->list[from].func];
	size_t first_row = section->n_rows;
	uint64_t end =
		fuse_begins(line, to) ? last->start + last->size : line->list[to].addr;

	if (!put_others(stage, line->list[from].func) || !put_rows(stage, from, to))
		return false;
	func.start = line->list[from].addr;
	func.size = (uint32_t)(end - func.start);
	func.n_rows = (uint32_t)(section->n_rows - first_row);
	func.first_row = first_row;
	if (part->block != FUSE_NO_BLOCK) {
		size_t *kept = &stage->rows_of[part->block];

		if (!*kept) {
			*kept = first_row + 1;
		} else if (same_rows(section, *kept - 1, first_row, func.n_rows)) {
			section->n_rows = first_row;
			func.first_row = *kept - 1;
		}
	}
	stage->padding += padding_in(stage, from, to);
	return put_func(stage, &func);
}

static bool put_all(struct stage *stage)
{
	const struct fuse_line *line = &stage->fuse.line;
	const struct part *part = stage->best.parts, *last;

	for (size_t first = 0; first < stage->section->n_funcs; first = line->end) {
		if (!fuse_line_read(&stage->fuse, first))
			return false;
		if (line->n == 0)
			continue;
		for (last = part; last->from > 0; last++)
			;
		for (const struct part *at = last + 1; at-- > part;) {
			if (!put_part(stage, at))
				return false;
		}
		part = last + 1;
	}
	return put_others(stage, stage->section->n_funcs);
}

static uint64_t rows_in(const struct sf_section *section)
{
	uint64_t n = 0;

	for (size_t i = 0; i < section->n_funcs; i++)
		n += section->funcs[i].n_rows;
	return n;
}

/* The cheapest round's solution is the best; false in *better when none is cheaper than
 * what was there. */
static bool find_best(struct stage *stage, bool *better)
{
	*better = false;
	stage->best.cost = cost_before(stage);
	for (int round = 0; round < FUSE_ROUNDS; round++) {
		struct solution other = stage->best;

		set_prices(stage, round);
		if (!solve(stage))
			return false;
		if (stage->now.cost >= stage->best.cost)
			continue;
		stage->best = stage->now;
		stage->now = other;
		*better = true;
	}
	return true;
}

static bool run(struct stage *stage)
{
	struct sf_section *section = stage->section;
	bool better;

	if (!prepare(stage) || !find_best(stage, &better))
		return false;
	if (!better)
		return true;
	if (!put_all(stage))
		return false;
	free(section->funcs);
	section->funcs = stage->funcs;
	section->n_funcs = stage->n_funcs;
	section->cap_funcs = stage->cap_funcs;
	stage->funcs = NULL;
	return true;
}

bool sf_fuse(struct sf_section *section, const struct sf_fuse_options *options,
	struct sf_fuse_stats *stats, struct err *err)
{
	struct stage stage = {
		.section = section, .fuse = {.section = section, .options = options}};
	struct sf_fuse_stats result = {
		.n_before = section->n_funcs, .rows_before = rows_in(section)};
	bool ok;

	stage.fuse.abi = sf_abi_find(section->abi);
	stage.fuse.layout = sf_layout_find(options->version);
	if (!stage.fuse.abi || !stage.fuse.layout)
		return err_set(
			err, ERR_INTERNAL, "no such version or ABI to optimise for");
	stage.fuse.piece_len = stage.fuse.layout->func_size;
	stage.fuse.attr_len = stage.fuse.layout->put_attr ? SFRAME_V3_ATTR_SIZE : 0;
	ok = run(&stage) || err_set_nomem(err);
	result.n_funcs = section->n_funcs;
	result.n_rows = rows_in(section);
	result.padding_bytes = stage.padding;
	result.bytes = stage.best.cost;
	if (ok && stats)
		*stats = result;
	fuse_cut_deinit(&stage.cut);
	free(stage.now.parts);
	free(stage.best.parts);
	free(stage.line_offers);
	free(stage.funcs);
	free(stage.rows_of);
	fuse_blocks_deinit(&stage.blocks);
	fuse_deinit(&stage.fuse);
	return ok;
}
