/* SPDX-License-Identifier: MIT */
/*
 * The optimiser's recipe. The cost of a shared block depends on how many share it, which
 * is known only afterwards: so the cuts are made several times, each time at the prices
 * that follow from the time before, and the cheapest of all is taken.
 */
#include "sframe/compact/compact.h"

#include <stdlib.h>

#include "base/vec.h"
#include "sframe/compact/repeated_blocks.h"

/* More rounds gain less than a thousandth. */
enum { COMPACT_ROUNDS = 3 };

struct solution_piece {
	uint32_t from, to; /* elements of its line */
	uint32_t block;
	uint32_t len; /* bytes of its rows, where it is no block */
};

/* The pieces of all lines; in each line from the last on. */
struct solution {
	struct solution_piece *pieces; /* owned */
	size_t n, cap;
	uint64_t cost;
};

/* One line of the text. */
struct line_place {
	size_t first;	   /* function of the model */
	size_t offers_end; /* where the offers for its pieces end; the next line's begin
			    */
};

struct compact_state {
	struct compact compact;
	struct compact_blocks blocks;
	struct line_place *lines; /* owned */
	size_t n_lines, cap_lines;
	struct compact_cut cut;
	struct solution now, best;
	/* Output: */
	struct sf_section *section;
	struct sf_func *funcs; /* owned */
	size_t n_funcs, cap_funcs;
	size_t *rows_of; /* owned; by block, one more than where its rows are */
	size_t cursor;	 /* functions of the model that are done */
	uint64_t padding;
};

/* ---- cuts and their cost ---- */

/* Adds a piece, which costs what it adds to those before it. */
static bool solution_add(struct compact_state *state, const struct solution_piece *piece)
{
	struct solution *now = &state->now;

	if (!vec_reserve(&now->pieces, &now->cap, now->n + 1))
		return false;
	now->pieces[now->n++] = *piece;
	now->cost += state->compact.piece_len + piece->len;
	if (piece->block != COMPACT_NO_BLOCK &&
	    state->blocks.list[piece->block].used++ == 0)
		now->cost += state->blocks.list[piece->block].len;
	return true;
}

static bool compact_solve_line(struct compact_state *state, size_t i)
{
	const struct line_place *lines = state->lines;
	struct compact *compact = &state->compact;
	size_t first = i ? lines[i - 1].offers_end : 0;

	if (!compact_line_read(compact, lines[i].first) ||
	    !compact_cut_line(compact,
		state->blocks.offers ? state->blocks.offers + first : NULL,
		lines[i].offers_end - first, state->blocks.price, &state->cut))
		return false;
	for (uint32_t to = (uint32_t)compact->line.n, from; to > 0; to = from) {
		struct solution_piece piece = {.to = to, .block = state->cut.block[to]};

		from = piece.from = state->cut.from[to];
		if (piece.block == COMPACT_NO_BLOCK)
			piece.len = compact_piece_at(compact, from, to).len;
		if (!solution_add(state, &piece))
			return false;
	}
	return true;
}

static bool compact_solve(struct compact_state *state)
{
	state->now.cost = 0;
	state->now.n = 0;
	for (size_t i = 0; i < state->blocks.n; i++)
		state->blocks.list[i].used = 0;
	for (size_t i = 0; i < state->n_lines; i++)
		if (!compact_solve_line(state, i))
			return false;
	return true;
}

/* Sets prices: each user of a block pays an equal share; in the first round all that could use it count. */
static void compact_set_prices(struct compact_state *state, int round)
{
	for (size_t i = 0; i < state->blocks.n; i++) {
		const struct compact_block *block = &state->blocks.list[i];
		uint32_t users = round ? block->used : block->offered;
		uint64_t price = (uint64_t)block->len * COMPACT_BYTE;

		price /= users ? users : 1;
		state->blocks.price[i] =
		    price < UINT32_MAX ? (uint32_t)price : UINT32_MAX;
	}
}

static bool compact_prepare(struct compact_state *state)
{
	struct compact *compact = &state->compact;
	size_t n_funcs = compact->section->n_funcs;

	if (!compact_kinds_read(compact) || !compact_joins_read(compact) ||
	    !compact_blocks_init(&state->blocks, n_funcs))
		return false;
	for (size_t first = 0; first < n_funcs; first = compact->line.end) {
		if (!compact_line_read(compact, first) ||
		    !compact_blocks_walk(compact, &state->blocks, compact_blocks_filter))
			return false;
	}
	for (size_t first = 0; first < n_funcs; first = compact->line.end) {
		if (!compact_line_read(compact, first) ||
		    !compact_blocks_walk(
			compact, &state->blocks, compact_blocks_collect) ||
		    !vec_reserve(&state->lines, &state->cap_lines, state->n_lines + 1))
			return false;
		state->lines[state->n_lines++] =
		    (struct line_place){first, state->blocks.n_offers};
	}
	state->blocks.price = calloc(state->blocks.n + 1, sizeof(*state->blocks.price));
	state->rows_of = calloc(state->blocks.n + 1, sizeof(*state->rows_of));
	return state->blocks.price && state->rows_of;
}

/* The cost of the functions as they are. */
static uint64_t cost_before(const struct compact_state *state)
{
	const struct sf_section *section = state->compact.section;
	uint64_t cost = state->blocks.alone;

	for (size_t i = 0; i < section->n_funcs; i++)
		if (compact_movable(&state->compact, &section->funcs[i]))
			cost += state->compact.piece_len;
	for (size_t i = 0; i < state->blocks.n; i++)
		if (state->blocks.list[i].used)
			cost += state->blocks.list[i].len;
	return cost;
}

/* ---- the new model ---- */

static bool compact_put_func(struct compact_state *state, const struct sf_func *func)
{
	if (!vec_reserve(&state->funcs, &state->cap_funcs, state->n_funcs + 1))
		return false;
	state->funcs[state->n_funcs++] = *func;
	return true;
}

/* Copies the functions before number end that stay as they are. */
static bool compact_put_others(struct compact_state *state, size_t end)
{
	for (; state->cursor < end; state->cursor++) {
		const struct sf_func *func = &state->section->funcs[state->cursor];

		if (!compact_movable(&state->compact, func) &&
		    !compact_put_func(state, func))
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

static bool compact_put_rows(struct compact_state *state, uint32_t from, uint32_t to)
{
	const struct compact_element *list = state->compact.line.list;
	struct sf_section *section = state->section;

	for (uint32_t i = from; i < to; i++) {
		struct sf_row row = state->compact.kinds.list[list[i].kind].row;

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
static uint64_t padding_in(const struct compact_state *state, uint32_t from, uint32_t to)
{
	const struct sf_func *funcs = state->section->funcs;
	const struct compact_element *list = state->compact.line.list;
	uint64_t padding = 0;

	for (uint32_t i = list[from].func + 1; i <= list[to - 1].func; i++)
		padding += funcs[i].start - funcs[i - 1].start - funcs[i - 1].size;
	return padding;
}

static bool compact_put_piece(
    struct compact_state *state, const struct solution_piece *piece)
{
	uint32_t from = piece->from, to = piece->to;
	const struct compact_line *line = &state->compact.line;
	const struct sf_func *last = &state->section->funcs[line->list[to - 1].func];
	struct sf_section *section = state->section;
	struct sf_func func = section->funcs[line->list[from].func];
	size_t first_row = section->n_rows;
	uint64_t end =
	    compact_begins(line, to) ? last->start + last->size : line->list[to].addr;

	if (!compact_put_others(state, line->list[from].func) ||
	    !compact_put_rows(state, from, to))
		return false;
	func.start = line->list[from].addr;
	func.size = (uint32_t)(end - func.start);
	func.n_rows = (uint32_t)(section->n_rows - first_row);
	func.first_row = first_row;
	if (piece->block != COMPACT_NO_BLOCK) {
		size_t *kept = &state->rows_of[piece->block];

		if (!*kept) {
			*kept = first_row + 1;
		} else if (same_rows(section, *kept - 1, first_row, func.n_rows)) {
			section->n_rows = first_row;
			func.first_row = *kept - 1;
		}
	}
	state->padding += padding_in(state, from, to);
	return compact_put_func(state, &func);
}

static bool compact_put_all(struct compact_state *state)
{
	const struct compact_line *line = &state->compact.line;
	const struct solution_piece *piece = state->best.pieces, *last;

	for (size_t first = 0; first < state->section->n_funcs; first = line->end) {
		if (!compact_line_read(&state->compact, first))
			return false;
		if (line->n == 0)
			continue;
		for (last = piece; last->from > 0; last++)
			;
		for (const struct solution_piece *at = last + 1; at-- > piece;) {
			if (!compact_put_piece(state, at))
				return false;
		}
		piece = last + 1;
	}
	return compact_put_others(state, state->section->n_funcs);
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
static bool compact_find_best(struct compact_state *state, bool *better)
{
	*better = false;
	state->best.cost = cost_before(state);
	for (int round = 0; round < COMPACT_ROUNDS; round++) {
		struct solution other = state->best;

		compact_set_prices(state, round);
		if (!compact_solve(state))
			return false;
		if (state->now.cost >= state->best.cost)
			continue;
		state->best = state->now;
		state->now = other;
		*better = true;
	}
	return true;
}

static bool compact_run(struct compact_state *state)
{
	struct sf_section *section = state->section;
	bool better;

	if (!compact_prepare(state) || !compact_find_best(state, &better))
		return false;
	if (!better)
		return true;
	if (!compact_put_all(state))
		return false;
	free(section->funcs);
	section->funcs = state->funcs;
	section->n_funcs = state->n_funcs;
	section->cap_funcs = state->cap_funcs;
	state->funcs = NULL;
	return true;
}

bool sf_compact(struct sf_section *section, const struct sf_compact_options *options,
    struct sf_compact_stats *stats, struct err *err)
{
	struct compact_state state = {.section = section};
	struct sf_compact_stats result = {
	    .n_before = section->n_funcs, .rows_before = rows_in(section)};
	bool ok;

	if (!compact_begin(&state.compact, section, options, err))
		return false;
	state.compact.piece_len = state.compact.layout->func_size;
	state.compact.attr_len = state.compact.layout->put_attr ? SFRAME_V3_ATTR_SIZE : 0;
	ok = compact_run(&state) || err_set_nomem(err);
	result.n_funcs = section->n_funcs;
	result.n_rows = rows_in(section);
	result.padding_bytes = state.padding;
	result.bytes = state.best.cost;
	if (ok && stats)
		*stats = result;
	compact_cut_deinit(&state.cut);
	free(state.now.pieces);
	free(state.best.pieces);
	free(state.lines);
	free(state.funcs);
	free(state.rows_of);
	compact_blocks_deinit(&state.blocks);
	compact_deinit(&state.compact);
	return ok;
}
