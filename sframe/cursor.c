/* SPDX-License-Identifier: MIT */
/* Rows in address order, one function decoded at a time. */
#include "sframe/cursor.h"

#include <stdlib.h>

#include "base/search.h"
#include "sframe/format.h"

struct cursor_key {
	uint64_t start;
	uint32_t index;
};

static int cursor_key_compare(const void *a, const void *b)
{
	const struct cursor_key *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* True if the functions as stored ascend by start and by end. */
static bool cursor_ascends(const struct sf_view *view)
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
static bool cursor_sort(struct sf_cursor *cursor, struct err *err)
{
	uint32_t n = cursor->view->n_funcs;
	struct cursor_key *keys = calloc(n ? n : 1, sizeof(*keys));
	bool ok = true;

	cursor->order = calloc(n ? n : 1, sizeof(*cursor->order));
	if (!keys || !cursor->order) {
		free(keys);
		return err_set_nomem(err);
	}
	for (uint32_t i = 0; ok && i < n; i++) {
		struct sf_view_func func;

		ok = sf_view_func(cursor->view, i, &func, err);
		if (ok && func.func.size)
			keys[cursor->n++] = (struct cursor_key){func.func.start, i};
	}
	qsort(keys, cursor->n, sizeof(*keys), cursor_key_compare);
	for (uint32_t i = 0; i < cursor->n; i++)
		cursor->order[i] = keys[i].index;
	free(keys);
	return ok;
}

bool sf_cursor_init(struct sf_cursor *cursor, const struct sf_view *view, struct err *err)
{
	*cursor = (struct sf_cursor){.view = view};
	if (cursor_ascends(view)) {
		cursor->n = view->n_funcs;
		return true;
	}
	if (cursor_sort(cursor, err))
		return true;
	sf_cursor_deinit(cursor);
	return false;
}

void sf_cursor_deinit(struct sf_cursor *cursor)
{
	free(cursor->order);
	*cursor = (struct sf_cursor){0};
}

static bool cursor_fail(struct sf_cursor *cursor)
{
	cursor->failed = true;
	return false;
}

static bool cursor_read_func(const struct sf_cursor *cursor, uint32_t at,
    struct sf_view_func *func, struct err *err)
{
	return sf_view_func(
	    cursor->view, cursor->order ? cursor->order[at] : at, func, err);
}

/* Reads the function whose turn it is; its rows are read when one is asked for. */
static bool cursor_load(struct sf_cursor *cursor, struct err *err)
{
	if (!cursor_read_func(cursor, cursor->at, &cursor->func, err))
		return cursor_fail(cursor);
	cursor->have_func = true;
	cursor->have_rows = false;
	return true;
}

/* Reads all rows of a PCMASK block, or the first of PCINC. */
static bool cursor_load_rows(struct sf_cursor *cursor, struct err *err)
{
	sf_rows_begin(cursor->view, &cursor->func, &cursor->iter);
	cursor->offs[0] = cursor->offs[1] = cursor->iter.off;
	cursor->n_block = 0;
	if (cursor->func.func.pcmask) {
		while (cursor->n_block < SF_CURSOR_MAX_BLOCK_ROWS &&
		       sf_rows_next(&cursor->iter, &cursor->block[cursor->n_block], err))
			cursor->offs[++cursor->n_block] = cursor->iter.off;
	} else {
		cursor->have_next = sf_rows_next(&cursor->iter, &cursor->next, err);
		cursor->have_row = false;
	}
	if (cursor->iter.failed)
		return cursor_fail(cursor);
	cursor->have_rows = true;
	return true;
}

/*
 * The row for offset of the current PCINC function, and where it ends in *end (both
 * offsets); NULL when no row has begun there yet, *end being where the first does.
 */
static const struct sf_row *cursor_pcinc(
    struct sf_cursor *cursor, uint64_t offset, uint64_t *end, struct err *err)
{
	while (cursor->have_next && cursor->next.start <= offset) {
		cursor->row = cursor->next;
		cursor->have_row = true;
		cursor->offs[0] = cursor->offs[1];
		cursor->offs[1] = cursor->iter.off;
		cursor->have_next = sf_rows_next(&cursor->iter, &cursor->next, err);
	}
	if (cursor->iter.failed)
		cursor->failed = true;
	*end = cursor->have_next ? cursor->next.start : cursor->func.func.size;
	return cursor->have_row ? &cursor->row : NULL;
}

/*
 * The row among n that holds at in_range, an offset into [0, size), and in *end where it
 * stops holding; NULL when none has begun yet.
 */
static const struct sf_row *cursor_row_at(
    const struct sf_row *rows, size_t n, uint64_t in_range, uint64_t size, uint64_t *end)
{
	size_t low = 0, above = n;

	while (low < above) {
		size_t middle = low + (above - low) / 2;

		if (rows[middle].start <= in_range)
			low = middle + 1;
		else
			above = middle;
	}
	*end = low < n ? rows[low].start : size;
	return low ? &rows[low - 1] : NULL;
}

/* As cursor_row_at, for the rows of a PCMASK function: they apply to each block again. */
static const struct sf_row *cursor_pcmask(const struct sf_func *func,
    const struct sf_row *rows, size_t n, uint64_t offset, uint64_t *end)
{
	uint64_t in_block = offset % func->rep_size;
	const struct sf_row *row = cursor_row_at(rows, n, in_block, func->rep_size, end);

	*end += offset - in_block;
	return row;
}

/* Positions on the first function that ends above pc. */
static void cursor_search(struct sf_cursor *cursor, uint64_t pc)
{
	uint32_t low = 0, high = cursor->n;
	struct sf_view_func func;
	struct err ignored = {0};

	/* Every function has been read by sf_check_all, so none fails here. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cursor_read_func(cursor, middle, &func, &ignored) &&
		    func.func.start + func.func.size <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	cursor->at = low;
	cursor->have_func = false;
}

void sf_cursor_seek(struct sf_cursor *cursor, uint64_t pc)
{
	if (pc < cursor->pos || (cursor->at == 0 && !cursor->have_func))
		cursor_search(cursor, pc);
	cursor->pos = pc;
}

/* The first function that ends above pos is in cursor->func; false when there is none, or
 * on damage. */
static bool cursor_find(struct sf_cursor *cursor, struct err *err)
{
	const struct sf_func *func = &cursor->func.func;

	while (!cursor->failed && cursor->at < cursor->n) {
		if (!cursor->have_func && !cursor_load(cursor, err))
			return false;
		if (func->start + func->size > cursor->pos)
			return true;
		cursor->at++;
		cursor->have_func = false;
	}
	return false;
}

/* True if the function (PCINC) has one row for everything. */
static bool cursor_is_even(struct sf_cursor *cursor, struct err *err)
{
	const struct sf_row *first;

	if (cursor->func.func.n_rows != 1 ||
	    (!cursor->have_rows && !cursor_load_rows(cursor, err)))
		return false;
	first = cursor->have_row ? &cursor->row : &cursor->next;
	return first->start == 0;
}

const struct sf_view_func *sf_cursor_function_at(
    struct sf_cursor *cursor, uint64_t start, uint64_t end, struct err *err)
{
	const struct sf_func *func = &cursor->func.func;

	sf_cursor_seek(cursor, start);
	if (!cursor_find(cursor, err) || func->pcmask || func->start > start ||
	    end - func->start > func->size)
		return NULL;
	if (func->start == start)
		return &cursor->func;
	return cursor_is_even(cursor, err) ? &cursor->func : NULL;
}

bool sf_cursor_next(
    struct sf_cursor *cursor, uint64_t limit, struct sf_segment *segment, struct err *err)
{
	while (cursor_find(cursor, err)) {
		const struct sf_func *func = &cursor->func.func;
		const struct sf_row *row;
		uint64_t from, end;

		from = cursor->pos > func->start ? cursor->pos : func->start;
		if (from >= limit ||
		    (!cursor->have_rows && !cursor_load_rows(cursor, err)))
			return false;
		if (func->pcmask)
			row = cursor_pcmask(func, cursor->block, cursor->n_block,
			    from - func->start, &end);
		else
			row = cursor_pcinc(cursor, from - func->start, &end, err);
		end = end < func->size ? end + func->start : func->start + func->size;
		cursor->pos = end < limit ? end : limit;
		if (!row)
			continue;
		if (++cursor->n_segments > SF_CURSOR_MAX_SEGMENTS) {
			err_set(err, ERR_LIMIT,
			    "more than %u stretches of code in the SFrame section",
			    SF_CURSOR_MAX_SEGMENTS);
			return cursor_fail(cursor);
		}
		*segment = (struct sf_segment){from, cursor->pos, row,
		    cursor->offs[func->pcmask ? row - cursor->block : 0],
		    func->signal_frame, func->pauth_b};
		return !cursor->failed;
	}
	return false;
}

const struct sf_row *sf_section_row_at(
    const struct sf_section *section, uint64_t pc, uint64_t *end)
{
	size_t i = search_list_above(section->funcs, section->n_funcs, start, pc);

	return sf_section_row_next(section, &i, pc, end);
}

const struct sf_row *sf_section_row_next(
    const struct sf_section *section, size_t *at, uint64_t pc, uint64_t *end)
{
	size_t i;
	const struct sf_func *func;
	const struct sf_row *rows, *row;
	uint64_t row_end;

	while (*at < section->n_funcs && section->funcs[*at].start <= pc)
		++*at;
	i = *at;
	if (i < section->n_funcs && section->funcs[i].start < *end)
		*end = section->funcs[i].start;
	/* Functions are apart, but empty ones can be where another one starts. */
	while (i > 0 && section->funcs[i - 1].size == 0)
		i--;
	if (i == 0 || pc - section->funcs[i - 1].start >= section->funcs[i - 1].size)
		return NULL;
	func = &section->funcs[i - 1];
	rows = sf_section_rows(section, func);
	if (func->pcmask)
		row = cursor_pcmask(func, rows, func->n_rows, pc - func->start, &row_end);
	else
		row = cursor_row_at(
		    rows, func->n_rows, pc - func->start, func->size, &row_end);
	*end = func->start + (row_end < func->size ? row_end : func->size);
	return row;
}
