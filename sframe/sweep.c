/* SPDX-License-Identifier: MIT */
/* Rows in address order, one function decoded at a time. */
#include "sframe/sweep.h"

#include <stdlib.h>

#include "sframe/format.h"

struct sweep_key {
	uint64_t start;
	uint32_t index;
};

static int sweep_key_compare(const void *a, const void *b)
{
	const struct sweep_key *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Whether the functions as stored ascend by start and by end. */
static bool sweep_ascends(const struct sf_view *view)
{
	struct sf_view_func func;
	struct err ignored = {0};

	if (!(view->flags & SFRAME_F_FDE_SORTED))
		return false;
	for (uint32_t i = 0; i < view->n_funcs; i++)
		if (sf_view_func(view, i, &func, &ignored) && func.func.size == 0)
			return false;
	return true;
}

/* A section that does not ascend gets an index that does. */
static bool sweep_sort(struct sweep *sweep, struct err *err)
{
	uint32_t n = sweep->view->n_funcs;
	struct sweep_key *keys = calloc(n ? n : 1, sizeof(*keys));
	bool ok = true;

	sweep->order = calloc(n ? n : 1, sizeof(*sweep->order));
	if (!keys || !sweep->order) {
		free(keys);
		return err_set_nomem(err);
	}
	for (uint32_t i = 0; ok && i < n; i++) {
		struct sf_view_func func;

		ok = sf_view_func(sweep->view, i, &func, err);
		if (ok && func.func.size)
			keys[sweep->n++] = (struct sweep_key){func.func.start, i};
	}
	qsort(keys, sweep->n, sizeof(*keys), sweep_key_compare);
	for (uint32_t i = 0; i < sweep->n; i++)
		sweep->order[i] = keys[i].index;
	free(keys);
	return ok;
}

bool sweep_init(struct sweep *sweep, const struct sf_view *view, struct err *err)
{
	*sweep = (struct sweep){.view = view};
	if (sweep_ascends(view)) {
		sweep->n = view->n_funcs;
		return true;
	}
	if (sweep_sort(sweep, err))
		return true;
	sweep_deinit(sweep);
	return false;
}

void sweep_deinit(struct sweep *sweep)
{
	free(sweep->order);
	*sweep = (struct sweep){0};
}

static bool sweep_fail(struct sweep *sweep)
{
	sweep->failed = true;
	return false;
}

static bool sweep_read_func(const struct sweep *sweep, uint32_t at,
	struct sf_view_func *func, struct err *err)
{
	return sf_view_func(sweep->view, sweep->order ? sweep->order[at] : at, func, err);
}

/* Reads the function whose turn it is; its rows are left until somebody asks for one. */
static bool sweep_load(struct sweep *sweep, struct err *err)
{
	if (!sweep_read_func(sweep, sweep->at, &sweep->func, err))
		return sweep_fail(sweep);
	sweep->have_func = true;
	sweep->have_rows = false;
	return true;
}

/* Reads all rows of a PCMASK block, or the first of PCINC. */
static bool sweep_load_rows(struct sweep *sweep, struct err *err)
{
	sf_rows_begin(sweep->view, &sweep->func, &sweep->iter);
	sweep->n_block = 0;
	if (sweep->func.func.pcmask) {
		while (sweep->n_block < SWEEP_MAX_BLOCK_ROWS &&
			sf_rows_next(&sweep->iter, &sweep->block[sweep->n_block], err))
			sweep->n_block++;
	} else {
		sweep->have_next = sf_rows_next(&sweep->iter, &sweep->next, err);
		sweep->have_row = false;
	}
	if (sweep->iter.failed)
		return sweep_fail(sweep);
	sweep->have_rows = true;
	return true;
}

/*
 * The row for offset of the current PCINC function, and where it ends in *end (both
 * offsets); NULL when no row has begun there yet, *end being where the first does.
 */
static const struct sf_row *sweep_pcinc(
	struct sweep *sweep, uint64_t offset, uint64_t *end, struct err *err)
{
	while (sweep->have_next && sweep->next.start <= offset) {
		sweep->row = sweep->next;
		sweep->have_row = true;
		sweep->have_next = sf_rows_next(&sweep->iter, &sweep->next, err);
	}
	if (sweep->iter.failed)
		sweep->failed = true;
	*end = sweep->have_next ? sweep->next.start : sweep->func.func.size;
	return sweep->have_row ? &sweep->row : NULL;
}

/*
 * The row among n that holds at in_range, an offset into [0, size), and in *end where it
 * stops holding; NULL when none has begun yet.
 */
static const struct sf_row *sweep_row_at(const struct sf_row *rows, size_t n,
	uint64_t in_range, uint64_t size, uint64_t *end)
{
	size_t i = 0;

	while (i < n && rows[i].start <= in_range)
		i++;
	*end = i < n ? rows[i].start : size;
	return i ? &rows[i - 1] : NULL;
}

/* As sweep_row_at, for the rows of a PCMASK function: they apply to each block anew. */
static const struct sf_row *sweep_pcmask(const struct sf_func *func,
	const struct sf_row *rows, size_t n, uint64_t offset, uint64_t *end)
{
	uint64_t in_block = offset % func->rep_size;
	const struct sf_row *row = sweep_row_at(rows, n, in_block, func->rep_size, end);

	*end += offset - in_block;
	return row;
}

/* Positions on the first function that ends above pc. */
static void sweep_search(struct sweep *sweep, uint64_t pc)
{
	uint32_t low = 0, high = sweep->n;
	struct sf_view_func func;
	struct err ignored = {0};

	/* Every function has been read by sf_check_all, so none fails here. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sweep_read_func(sweep, middle, &func, &ignored) &&
			func.func.start + func.func.size <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	sweep->at = low;
	sweep->have_func = false;
}

void sweep_seek(struct sweep *sweep, uint64_t pc)
{
	if (pc < sweep->pos || (sweep->at == 0 && !sweep->have_func))
		sweep_search(sweep, pc);
	sweep->pos = pc;
}

/* The first function that ends above pos is in sweep->func; false when there is none, or
 * on damage. */
static bool sweep_find(struct sweep *sweep, struct err *err)
{
	const struct sf_func *func = &sweep->func.func;

	while (!sweep->failed && sweep->at < sweep->n) {
		if (!sweep->have_func && !sweep_load(sweep, err))
			return false;
		if (func->start + func->size > sweep->pos)
			return true;
		sweep->at++;
		sweep->have_func = false;
	}
	return false;
}

/* Whether the function (PCINC) has one row for everything. */
static bool sweep_is_even(struct sweep *sweep, struct err *err)
{
	const struct sf_row *first;

	if (sweep->func.func.n_rows != 1 ||
		(!sweep->have_rows && !sweep_load_rows(sweep, err)))
		return false;
	first = sweep->have_row ? &sweep->row : &sweep->next;
	return first->start == 0;
}

const struct sf_view_func *sweep_whole(
	struct sweep *sweep, uint64_t start, uint64_t end, struct err *err)
{
	const struct sf_func *func = &sweep->func.func;

	sweep_seek(sweep, start);
	if (!sweep_find(sweep, err) || func->pcmask || func->start > start ||
		end - func->start > func->size)
		return NULL;
	if (func->start == start && func->size == end - start)
		return &sweep->func;
	return sweep_is_even(sweep, err) ? &sweep->func : NULL;
}

bool sweep_next(struct sweep *sweep, uint64_t limit, struct sweep_segment *segment,
	struct err *err)
{
	while (sweep_find(sweep, err)) {
		const struct sf_func *func = &sweep->func.func;
		const struct sf_row *row;
		uint64_t from, end;

		from = sweep->pos > func->start ? sweep->pos : func->start;
		if (from >= limit || (!sweep->have_rows && !sweep_load_rows(sweep, err)))
			return false;
		if (func->pcmask)
			row = sweep_pcmask(func, sweep->block, sweep->n_block,
				from - func->start, &end);
		else
			row = sweep_pcinc(sweep, from - func->start, &end, err);
		end = end < func->size ? end + func->start : func->start + func->size;
		sweep->pos = end < limit ? end : limit;
		if (!row)
			continue;
		if (++sweep->n_segments > SWEEP_MAX_SEGMENTS) {
			err_set(err, ERR_LIMIT,
				"more than %u stretches of code in the SFrame section",
				SWEEP_MAX_SEGMENTS);
			return sweep_fail(sweep);
		}
		segment->start = from;
		segment->end = sweep->pos;
		segment->row = row;
		segment->signal_frame = func->signal_frame;
		segment->pauth_b = func->pauth_b;
		return !sweep->failed;
	}
	return false;
}

const struct sf_row *sweep_model_row(
	const struct sf_section *section, uint64_t pc, uint64_t *end)
{
	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];
		const struct sf_row *rows = section->rows + func->first_row, *row;
		uint64_t row_end;

		if (pc < func->start || pc - func->start >= func->size) {
			if (pc < func->start && func->start < *end)
				*end = func->start;
			continue;
		}
		if (func->pcmask)
			row = sweep_pcmask(
				func, rows, func->n_rows, pc - func->start, &row_end);
		else
			row = sweep_row_at(rows, func->n_rows, pc - func->start,
				func->size, &row_end);
		*end = func->start + (row_end < func->size ? row_end : func->size);
		return row;
	}
	return NULL;
}
