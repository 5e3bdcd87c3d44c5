/* SPDX-License-Identifier: MIT */
/*
 * The optimiser's recipe. What a shared block costs depends on how many share it, which
 * is known only afterwards: so the cuts are made several times, each time at the prices
 * that follow from the time before, and the cheapest of all is taken.
 */
#include "sframe/compact/compact.h"

#include <stdlib.h>

#include "base/task.h"
#include "base/vec.h"
#include "sframe/compact/repeats.h"

/* More gain less than a thousandth. */
enum { COMPACT_ROUNDS = 3 };

struct part {
	uint32_t from, to; /* elements of its line */
	uint32_t block;
	uint32_t len; /* bytes of its rows, where it is no block */
};

/* The pieces of all lines; in each line from the last on. */
struct solution {
	struct part *parts; /* owned */
	size_t n, cap;
	uint64_t cost;
};

/* A stretch of the text. */
struct line_place {
	size_t first;	   /* function of the model */
	size_t offers_end; /* where the offers for its pieces end; the next line's begin
			    */
};

/* Some of the lines, to be cut by one thread. */
struct worker {
	const struct stage *stage;
	size_t first, last;	/* lines [first, last) */
	struct compact compact; /* with a line of its own; borrows the kinds */
	struct compact_cut cut;
	struct solution now;
	bool ok;
};

struct stage {
	struct compact compact;
	struct compact_blocks blocks;
	struct line_place *lines; /* owned */
	size_t n_lines, cap_lines;
	struct worker *workers; /* owned */
	size_t n_workers;
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

static bool solve_line(struct worker *worker, size_t i)
{
	const struct stage *stage = worker->stage;
	const struct line_place *lines = stage->lines;
	struct solution *now = &worker->now;
	size_t first = i ? lines[i - 1].offers_end : 0;

	if (!compact_line_read(&worker->compact, lines[i].first) ||
	    !compact_cut_line(&worker->compact, stage->blocks.offers + first,
		lines[i].offers_end - first, stage->blocks.price, &worker->cut))
		return false;
	for (uint32_t to = (uint32_t)worker->compact.line.n, from; to > 0; to = from) {
		uint32_t block = worker->cut.block[to], len = 0;

		from = worker->cut.from[to];
		if (block == COMPACT_NO_BLOCK)
			len = compact_piece_at(&worker->compact, from, to).len;
		if (!vec_reserve(&now->parts, &now->cap, now->n + 1))
			return false;
		now->parts[now->n++] = (struct part){from, to, block, len};
	}
	return true;
}

static void solve_lines(void *context)
{
	struct worker *worker = context;

	worker->now.n = 0;
	worker->ok = true;
	for (size_t i = worker->first; worker->ok && i < worker->last; i++)
		worker->ok = solve_line(worker, i);
}

/* Appends the pieces of one worker; each costs what it adds to those before it. */
static bool join_parts(struct stage *stage, const struct solution *some)
{
	struct solution *now = &stage->now;

	if (!vec_reserve(&now->parts, &now->cap, now->n + some->n))
		return false;
	for (size_t i = 0; i < some->n; i++) {
		const struct part *part = &some->parts[i];

		now->parts[now->n++] = *part;
		now->cost += stage->compact.piece_len + part->len;
		if (part->block != COMPACT_NO_BLOCK &&
		    stage->blocks.list[part->block].used++ == 0)
			now->cost += stage->blocks.list[part->block].len;
	}
	return true;
}

static bool solve(struct stage *stage)
{
	stage->now.cost = 0;
	stage->now.n = 0;
	for (size_t i = 0; i < stage->blocks.n; i++)
		stage->blocks.list[i].used = 0;
	task_run_all(
	    solve_lines, stage->workers, sizeof(*stage->workers), stage->n_workers);
	for (size_t i = 0; i < stage->n_workers; i++) {
		if (!stage->workers[i].ok || !join_parts(stage, &stage->workers[i].now))
			return false;
	}
	return true;
}

/* Each user of a block pays an equal part; at first everybody counts who could. */
static void set_prices(struct stage *stage, int round)
{
	for (size_t i = 0; i < stage->blocks.n; i++) {
		const struct compact_block *block = &stage->blocks.list[i];
		uint32_t users = round ? block->used : block->seen;
		uint64_t price = (uint64_t)block->len * COMPACT_BYTE;

		price /= users ? users : 1;
		stage->blocks.price[i] =
		    price < UINT32_MAX ? (uint32_t)price : UINT32_MAX;
	}
}

/* Lines are as long as each other, but for the last one. */
static bool hire(struct stage *stage)
{
	size_t n = stage->compact.options->jobs, first = 0;

	if (n > stage->n_lines)
		n = stage->n_lines;
	if (n == 0)
		n = 1;
	stage->workers = calloc(n, sizeof(*stage->workers));
	if (!stage->workers)
		return false;
	stage->n_workers = n;
	for (size_t i = 0; i < n; i++) {
		struct worker *worker = &stage->workers[i];

		worker->stage = stage;
		worker->first = first;
		worker->last = first + (stage->n_lines - first) / (n - i);
		first = worker->last;
		worker->compact = stage->compact;
		compact_restart(&worker->compact);
	}
	return true;
}

static void dismiss(struct stage *stage)
{
	for (size_t i = 0; i < stage->n_workers; i++) {
		compact_line_deinit(&stage->workers[i].compact);
		compact_cut_deinit(&stage->workers[i].cut);
		free(stage->workers[i].now.parts);
	}
	free(stage->workers);
}

static bool prepare(struct stage *stage)
{
	struct compact *compact = &stage->compact;
	size_t n_funcs = compact->section->n_funcs;

	if (!compact_kinds_read(compact) || !compact_blocks_init(&stage->blocks, n_funcs))
		return false;
	for (size_t first = 0; first < n_funcs; first = compact->line.end) {
		if (!compact_line_read(compact, first) ||
		    !compact_blocks_walk(compact, &stage->blocks, compact_blocks_filter))
			return false;
	}
	for (size_t first = 0; first < n_funcs; first = compact->line.end) {
		if (!compact_line_read(compact, first) ||
		    !compact_blocks_walk(
			compact, &stage->blocks, compact_blocks_collect) ||
		    !vec_reserve(&stage->lines, &stage->cap_lines, stage->n_lines + 1))
			return false;
		stage->lines[stage->n_lines++] =
		    (struct line_place){first, stage->blocks.n_offers};
	}
	stage->blocks.price = calloc(stage->blocks.n + 1, sizeof(*stage->blocks.price));
	stage->rows_of = calloc(stage->blocks.n + 1, sizeof(*stage->rows_of));
	return stage->blocks.price && stage->rows_of && hire(stage);
}

/* What the functions cost as they are. */
static uint64_t cost_before(const struct stage *stage)
{
	const struct sf_section *section = stage->compact.section;
	uint64_t cost = stage->blocks.alone;

	for (size_t i = 0; i < section->n_funcs; i++)
		if (compact_movable(&stage->compact, &section->funcs[i]))
			cost += stage->compact.piece_len;
	for (size_t i = 0; i < stage->blocks.n; i++)
		if (stage->blocks.list[i].used)
			cost += stage->blocks.list[i].len;
	return cost;
}

/* ---- the new model ---- */

static bool compact_put_func(struct stage *stage, const struct sf_func *func)
{
	if (!vec_reserve(&stage->funcs, &stage->cap_funcs, stage->n_funcs + 1))
		return false;
	stage->funcs[stage->n_funcs++] = *func;
	return true;
}

/* The functions before number end that stay as they are. */
static bool compact_put_others(struct stage *stage, size_t end)
{
	for (; stage->cursor < end; stage->cursor++) {
		const struct sf_func *func = &stage->section->funcs[stage->cursor];

		if (!compact_movable(&stage->compact, func) &&
		    !compact_put_func(stage, func))
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

static bool compact_put_rows(struct stage *stage, uint32_t from, uint32_t to)
{
	const struct compact_element *list = stage->compact.line.list;
	struct sf_section *section = stage->section;

	for (uint32_t i = from; i < to; i++) {
		struct sf_row row = stage->compact.kinds.list[list[i].kind].row;

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
	const struct compact_element *list = stage->compact.line.list;
	uint64_t padding = 0;

	for (uint32_t i = list[from].func + 1; i <= list[to - 1].func; i++)
		padding += funcs[i].start - funcs[i - 1].start - funcs[i - 1].size;
	return padding;
}

static bool compact_put_piece(struct stage *stage, const struct part *part)
{
	uint32_t from = part->from, to = part->to;
	const struct compact_line *line = &stage->compact.line;
	const struct sf_func *last = &stage->section->funcs[line->list[to - 1].func];
	struct sf_section *section = stage->section;
	struct sf_func func = section->funcs[line->list[from].func];
	size_t first_row = section->n_rows;
	uint64_t end =
	    compact_begins(line, to) ? last->start + last->size : line->list[to].addr;

	if (!compact_put_others(stage, line->list[from].func) ||
	    !compact_put_rows(stage, from, to))
		return false;
	func.start = line->list[from].addr;
	func.size = (uint32_t)(end - func.start);
	func.n_rows = (uint32_t)(section->n_rows - first_row);
	func.first_row = first_row;
	if (part->block != COMPACT_NO_BLOCK) {
		size_t *kept = &stage->rows_of[part->block];

		if (!*kept) {
			*kept = first_row + 1;
		} else if (same_rows(section, *kept - 1, first_row, func.n_rows)) {
			section->n_rows = first_row;
			func.first_row = *kept - 1;
		}
	}
	stage->padding += padding_in(stage, from, to);
	return compact_put_func(stage, &func);
}

static bool compact_put_all(struct stage *stage)
{
	const struct compact_line *line = &stage->compact.line;
	const struct part *part = stage->best.parts, *last;

	for (size_t first = 0; first < stage->section->n_funcs; first = line->end) {
		if (!compact_line_read(&stage->compact, first))
			return false;
		if (line->n == 0)
			continue;
		for (last = part; last->from > 0; last++)
			;
		for (const struct part *at = last + 1; at-- > part;) {
			if (!compact_put_piece(stage, at))
				return false;
		}
		part = last + 1;
	}
	return compact_put_others(stage, stage->section->n_funcs);
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
	for (int round = 0; round < COMPACT_ROUNDS; round++) {
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
	if (!compact_put_all(stage))
		return false;
	free(section->funcs);
	section->funcs = stage->funcs;
	section->n_funcs = stage->n_funcs;
	section->cap_funcs = stage->cap_funcs;
	stage->funcs = NULL;
	return true;
}

bool sf_compact(struct sf_section *section, const struct sf_compact_options *options,
    struct sf_compact_stats *stats, struct err *err)
{
	struct stage stage = {.section = section};
	struct sf_compact_stats result = {
	    .n_before = section->n_funcs, .rows_before = rows_in(section)};
	bool ok;

	if (!compact_begin(&stage.compact, section, options, err))
		return false;
	stage.compact.piece_len = stage.compact.layout->func_size;
	stage.compact.attr_len = stage.compact.layout->put_attr ? SFRAME_V3_ATTR_SIZE : 0;
	ok = run(&stage) || err_set_nomem(err);
	result.n_funcs = section->n_funcs;
	result.n_rows = rows_in(section);
	result.padding_bytes = stage.padding;
	result.bytes = stage.best.cost;
	if (ok && stats)
		*stats = result;
	dismiss(&stage);
	free(stage.now.parts);
	free(stage.best.parts);
	free(stage.lines);
	free(stage.funcs);
	free(stage.rows_of);
	compact_blocks_deinit(&stage.blocks);
	compact_deinit(&stage.compact);
	return ok;
}
