/* SPDX-License-Identifier: MIT */
/* The model as lines of elements. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/vec.h"
#include "sframe/compact/internal.h"

/* Elements of a line; more only where one function has more. */
enum { LINE_ELEMENTS = 1 << 14 };
/* A row that holds for so many bytes is a likely place for functions that are alike to differ. */
enum { LONG_ROW = 8 };

static const uint64_t HASH_BASE = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t line_hash_mix(uint64_t v)
{
	v = (v ^ v >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 29;
}

bool compact_begin(struct compact *compact, const struct sf_section *section,
    const struct sf_compact_options *options, struct err *err)
{
	*compact = (struct compact){.section = section,
	    .options = options,
	    .abi = sf_abi_find(section->abi),
	    .layout = sf_layout_find(options->version)};
	return (compact->abi && compact->layout) ||
	       err_set(err, ERR_INTERNAL, "cannot optimise for this version or ABI");
}

bool compact_movable(const struct compact *compact, const struct sf_func *func)
{
	const struct sf_row *rows = compact->section->rows + func->first_row;

	if (func->pcmask || func->signal_frame || func->n_rows == 0 ||
	    func->size > COMPACT_SIZE_MAX)
		return false;
	if (!compact->layout->has_flex || !compact->abi->has_flex)
		return true;
	for (uint32_t i = 0; i < func->n_rows; i++) {
		if (sf_row_needs_flex(compact->abi, &rows[i]))
			return false;
	}
	return true;
}

/* ---- rows ---- */

static uint64_t hash_row(struct hash_key key, const struct sf_row *row)
{
	uint64_t words[] = {(uint32_t)row->cfa_off, (uint32_t)row->ra_off,
	    (uint32_t)row->fp_off,
	    (uint64_t)row->cfa.kind << 56 | (uint64_t)row->cfa.reg << 48 |
		(uint64_t)row->ra.kind << 40 | (uint64_t)row->ra.reg << 32 |
		(uint64_t)row->fp.kind << 24 | (uint64_t)row->fp.reg << 16 |
		(uint64_t)row->ra_signed << 8 | row->outermost};

	return hash_bytes_by(key, (const uint8_t *)words, sizeof(words));
}

static bool kind_add(struct compact *compact, const struct sf_row *row)
{
	struct compact_kinds *kinds = &compact->kinds;
	struct compact_kind kind = {.row = *row};
	struct wr bytes;
	bool ok;

	kind.row.start = 0;
	wr_init(&bytes, compact->section->big_endian);
	sf_put_row(&bytes, compact->abi, &kind.row, SFRAME_FRE_TYPE_ADDR1,
	    SFRAME_FDE_TYPE_DEFAULT);
	kind.len = (uint32_t)bytes.size - 1;
	ok = !bytes.failed && vec_reserve(&kinds->list, &kinds->cap, kinds->n + 1);
	if (ok)
		kinds->list[kinds->n++] = kind;
	wr_deinit(&bytes);
	return ok;
}

static bool kind_find(struct compact *compact, const struct sf_row *row, uint32_t *out)
{
	struct compact_kinds *kinds = &compact->kinds;
	uint32_t hash = (uint32_t)hash_row(kinds->key, row);
	struct slot *slot;

	if (!slots_reserve(&kinds->slots, kinds->n + 1))
		return false;
	slot = slots_first(&kinds->slots, hash);
	while (slot->number && (slot->hash != hash ||
				   !sf_row_same(&kinds->list[slot->number - 1].row, row)))
		slot = slots_next(&kinds->slots, slot);
	if (!slot->number) {
		if (!kind_add(compact, row))
			return false;
		*slot = (struct slot){hash, (uint32_t)kinds->n};
	}
	*out = slot->number - 1;
	return true;
}

bool compact_kinds_read(struct compact *compact)
{
	const struct sf_section *section = compact->section;

	compact->kinds.key = hash_key();
	compact->kinds.of_row =
	    calloc(section->n_rows + 1, sizeof(*compact->kinds.of_row));
	if (!compact->kinds.of_row)
		return false;
	for (size_t i = 0; i < section->n_rows; i++) {
		if (!kind_find(compact, &section->rows[i], &compact->kinds.of_row[i]))
			return false;
	}
	return true;
}

/* ---- elements ---- */

bool compact_border(
    struct compact *compact, const struct sf_func *a, const struct sf_func *b)
{
	const struct sf_compact_options *options = compact->options;
	uint64_t end = a->start + a->size;

	if (b->start - end > SF_COMPACT_PADDING_MAX || a->pauth_b != b->pauth_b)
		return true;
	while (
	    compact->taken < options->n_taken && options->taken[compact->taken].end < end)
		compact->taken++;
	if (compact->taken < options->n_taken &&
	    options->taken[compact->taken].start <= b->start)
		return true;
	return b->start > end && options->is_padding &&
	       !options->is_padding(options->context, end, b->start);
}

bool compact_joins_read(struct compact *compact)
{
	const struct sf_section *section = compact->section;
	const struct sf_func *last = NULL, *func;

	compact->joins = calloc(section->n_funcs + 1, sizeof(*compact->joins));
	for (size_t i = 0; compact->joins && i < section->n_funcs; i++) {
		func = &section->funcs[i];
		func = compact_movable(compact, func) ? func : NULL;
		compact->joins[i] = last && func && !compact_border(compact, last, func);
		compact->n_equal +=
		    compact->joins[i] && compact_equal_rows(section, last, func);
		last = func;
	}
	return compact->joins;
}

static bool line_add_element(struct compact *compact, struct compact_element *now)
{
	struct compact_line *line = &compact->line;

	if (!vec_reserve(&line->list, &line->cap, line->n + 2))
		return false;
	now->hash = line->sum.hash;
	now->rows = line->sum.rows;
	now->bytes = line->sum.bytes;
	now->counted = line->n == now->chain || now->kind != line->list[line->n - 1].kind;
	if (now->counted) {
		uint64_t before = line->n ? line->list[line->sum.last].addr : 0;

		line->sum.hash =
		    line->sum.hash * HASH_BASE +
		    line_hash_mix((now->addr - before) * HASH_BASE + now->kind);
		line->sum.rows++;
		line->sum.bytes += compact->kinds.list[now->kind].len;
		line->sum.last = (uint32_t)line->n;
	}
	now->last = line->sum.last;
	line->list[line->n++] = *now;
	return true;
}

static bool line_add_mark(struct compact_line *line, size_t at)
{
	if (!vec_reserve(&line->marks, &line->cap_marks, line->n_marks + 1))
		return false;
	line->marks[line->n_marks++] = (uint32_t)at;
	return true;
}

static bool line_add_function(struct compact *compact, size_t i, bool joined)
{
	struct compact_line *line = &compact->line;
	const struct sf_func *func = &compact->section->funcs[i];
	const struct sf_row *rows = compact->section->rows + func->first_row;
	const uint32_t *kinds = compact->kinds.of_row + func->first_row;
	uint32_t begin = (uint32_t)line->n;
	struct compact_element now = {.func = (uint32_t)i, .begin = begin};

	now.chain = joined ? line->list[line->n - 1].chain : begin;
	if (!line_add_mark(line, line->n))
		return false;
	for (uint32_t j = 0; j < func->n_rows; j++) {
		if (j && kinds[j] == kinds[j - 1])
			continue;
		if (j && rows[j].start - rows[j - 1].start >= LONG_ROW &&
		    !line_add_mark(line, line->n))
			return false;
		now.addr = func->start + rows[j].start;
		now.kind = kinds[j];
		if (!line_add_element(compact, &now))
			return false;
	}
	return true;
}

/* Ends the line, and fills in what is known only at its end. */
static bool line_finish(struct compact *compact)
{
	struct compact_line *line = &compact->line;
	struct compact_element end = line->sum;
	uint32_t next = (uint32_t)line->n;

	if (!vec_reserve(&line->list, &line->cap, line->n + 1) ||
	    !vec_reserve(&compact->powers, &compact->cap_powers, line->n + 1))
		return false;
	line->list[line->n] = end;
	for (size_t i = line->n; i-- > 0;) {
		line->list[i].next = next;
		if (line->list[i].counted)
			next = (uint32_t)i;
	}
	if (compact->n_powers == 0)
		compact->powers[compact->n_powers++] = 1;
	for (; compact->n_powers <= line->n; compact->n_powers++)
		compact->powers[compact->n_powers] =
		    compact->powers[compact->n_powers - 1] * HASH_BASE;
	return line_add_mark(line, line->n);
}

bool compact_line_read(struct compact *compact, size_t first)
{
	const struct sf_section *section = compact->section;
	struct compact_line *line = &compact->line;
	uint64_t chain = 0;
	size_t i;

	line->n = line->n_marks = 0;
	line->sum = (struct compact_element){0};
	for (i = first; i < section->n_funcs && line->n < LINE_ELEMENTS; i++) {
		const struct sf_func *func = &section->funcs[i];
		bool joined;

		if (!compact_movable(compact, func))
			continue;
		joined = i > first && compact->joins[i] &&
			 func->start + func->size - chain <= COMPACT_SIZE_MAX;
		if (!joined)
			chain = func->start;
		if (!line_add_function(compact, i, joined))
			return false;
	}
	line->end = i;
	return line_finish(compact);
}

struct compact_piece compact_piece_at(
    const struct compact *compact, uint32_t from, uint32_t to)
{
	const struct compact_element *list = compact->line.list, *head = &list[from];
	struct compact_piece piece = {from, to, 0, 0, 0};
	const struct compact_element *end = &list[to], *next = &list[head->next], *rest;
	uint32_t width = 1;
	uint64_t hash = head->kind;

	piece.n_rows = 1 + end->rows - list[from + 1].rows;
	if (piece.n_rows > 1) {
		uint64_t reach = list[list[to - 1].last].addr - head->addr;

		width = reach <= UINT8_MAX ? 1 : reach <= UINT16_MAX ? 2 : 4;
		rest = next + 1;
		hash = line_hash_mix(hash * HASH_BASE + (next->addr - head->addr)) *
			   HASH_BASE +
		       next->kind;
		hash += line_hash_mix(
		    end->hash - rest->hash * compact->powers[end->rows - rest->rows]);
	}
	hash = line_hash_mix(hash) + piece.n_rows;
	if (compact->attr_len && compact->section->funcs[head->func].pauth_b)
		hash += HASH_BASE;
	piece.hash = line_hash_mix(hash);
	piece.len = compact->attr_len + compact->kinds.list[head->kind].len + end->bytes -
		    list[from + 1].bytes + width * piece.n_rows;
	return piece;
}

void compact_deinit(struct compact *compact)
{
	free(compact->kinds.list);
	free(compact->kinds.slots.list);
	free(compact->kinds.of_row);
	free(compact->joins);
	free(compact->line.list);
	free(compact->line.marks);
	free(compact->powers);
}
