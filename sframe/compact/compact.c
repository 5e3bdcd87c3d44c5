/* SPDX-License-Identifier: MIT */
/*
 * The optimiser's recipe. The cost of a shared block depends on how many share it, which
 * is known only afterwards. So the text is cut three times: as a trial, as if all that could use a block did;
 * as another one, since most blocks of the first have too few users left; and at the prices that follow from that.
 */
#include "sframe/compact/compact.h"

#include <stdlib.h>

#include "base/vec.h"
#include "sframe/compact/repeated_blocks.h"

struct compact_state {
	struct compact compact;
	struct compact_blocks blocks;
	/* Owned; by line, where the offers for its pieces end. The next line's begin there. */
	size_t *offers_end;
	size_t n_lines, cap_lines;
	struct compact_cut cut;
	uint64_t cost; /* bytes of the pieces and of the rows that they use */
	/* Output: */
	struct sf_section *section;
	struct sf_func *funcs; /* owned */
	size_t n_funcs, cap_funcs;
	size_t cursor; /* functions of the model that are done */
	uint64_t padding;
};

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

/* Stores the rows of a block once, and gives them to all functions that use it. */
static void compact_share(
    struct compact_state *state, uint32_t number, struct sf_func *func)
{
	struct compact_block *block = &state->blocks.list[number];

	if (!block->rows) {
		block->rows = func->first_row + 1;
		state->cost += block->len;
		/* It is paid for, so the lines behind this one have it for nothing. */
		state->blocks.price[number] = 0;
	} else if (same_rows(
		       state->section, block->rows - 1, func->first_row, func->n_rows)) {
		state->section->n_rows = func->first_row;
		func->first_row = block->rows - 1;
	}
}

static bool compact_put_piece(struct compact_state *state, uint32_t from, uint32_t to)
{
	const struct compact_line *line = &state->compact.line;
	const struct sf_func *last = &state->section->funcs[line->list[to - 1].func];
	struct sf_section *section = state->section;
	struct sf_func func = section->funcs[line->list[from].func];
	uint32_t block = state->cut.block[from];
	uint64_t end =
	    compact_begins(line, to) ? last->start + last->size : line->list[to].addr;

	func.first_row = section->n_rows;
	if (!compact_put_others(state, line->list[from].func) ||
	    !compact_put_rows(state, from, to))
		return false;
	func.start = line->list[from].addr;
	func.size = (uint32_t)(end - func.start);
	func.n_rows = (uint32_t)(section->n_rows - func.first_row);
	state->cost += state->compact.piece_len;
	if (block != COMPACT_NO_BLOCK)
		compact_share(state, block, &func);
	else
		state->cost += compact_piece_at(&state->compact, from, to).len;
	state->padding += padding_in(state, from, to);
	return compact_put_func(state, &func);
}

/* ---- the passes ---- */

/* Calls f with the pieces of all lines that may be worth sharing. */
static bool compact_walk(struct compact_state *state,
    bool (*f)(struct compact_blocks *, const struct compact_candidates *))
{
	struct compact *compact = &state->compact;

	state->n_lines = 0;
	for (size_t first = 0; first < compact->section->n_funcs;
	     first = compact->line.end) {
		if (!compact_line_read(compact, first) ||
		    !compact_blocks_walk(compact, &state->blocks, f) ||
		    !vec_reserve(
			&state->offers_end, &state->cap_lines, state->n_lines + 1))
			return false;
		state->offers_end[state->n_lines++] = state->blocks.n_offers;
	}
	return true;
}

/* Cuts all lines at the prices that follow from the users counted last, and calls f with each piece. */
static bool compact_cut_all(struct compact_state *state, bool marks_only,
    bool (*f)(struct compact_state *, uint32_t from, uint32_t to))
{
	const struct compact_line *line = &state->compact.line;
	struct compact_blocks *blocks = &state->blocks;
	size_t first = 0, offers = 0;

	if (!compact_blocks_set_prices(blocks))
		return false;
	for (size_t i = 0; i < state->n_lines; i++, first = line->end) {
		if (!compact_line_read(&state->compact, first) ||
		    !compact_cut_line(&state->compact,
			blocks->offers ? blocks->offers + offers : NULL,
			state->offers_end[i] - offers, blocks->price, marks_only,
			&state->cut))
			return false;
		offers = state->offers_end[i];
		for (uint32_t at = 0; at < line->n; at = state->cut.to[at]) {
			if (!f(state, at, state->cut.to[at]))
				return false;
		}
	}
	return true;
}

static bool compact_count(struct compact_state *state, uint32_t from, uint32_t to)
{
	uint32_t block = state->cut.block[from];

	(void)to;
	if (block != COMPACT_NO_BLOCK)
		state->blocks.list[block].users++;
	return true;
}

static uint64_t rows_in(const struct sf_section *section)
{
	uint64_t n = 0;

	for (size_t i = 0; i < section->n_funcs; i++)
		n += section->funcs[i].n_rows;
	return n;
}

static bool compact_run(struct compact_state *state)
{
	struct sf_section *section = state->section;
	struct compact_blocks *blocks = &state->blocks;
	size_t n_rows = section->n_rows;
	uint64_t equal;

	if (!compact_kinds_read(&state->compact) ||
	    !compact_joins_read(&state->compact) ||
	    !compact_blocks_init(blocks, section->n_funcs) ||
	    !compact_walk(state, compact_blocks_filter) ||
	    !compact_walk(state, compact_blocks_collect) ||
	    !compact_cut_all(state, true, compact_count) ||
	    !compact_cut_all(state, true, compact_count) ||
	    !compact_cut_all(state, false, compact_put_piece) ||
	    !compact_put_others(state, section->n_funcs))
		return false;
	equal = blocks->whole_bytes +
		(blocks->n_whole - state->compact.n_equal) * state->compact.piece_len;
	if (state->cost >= equal) {
		struct sf_compact_stats stats;
		struct err ignored; /* The version and the ABI are known. */

		section->n_rows = n_rows;
		state->cost = equal;
		if (!sf_compact_equal(section, state->compact.options, &stats, &ignored))
			return false;
		state->padding = stats.padding_bytes;
		return true;
	}
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
	result.bytes = state.cost;
	if (ok && stats)
		*stats = result;
	compact_cut_deinit(&state.cut);
	free(state.offers_end);
	free(state.funcs);
	compact_blocks_deinit(&state.blocks);
	compact_deinit(&state.compact);
	return ok;
}
