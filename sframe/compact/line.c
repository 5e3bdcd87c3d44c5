/* SPDX-License-Identifier: MIT */
/* The model as lines of elements. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/vec.h"
#include "sframe/compact/internal.h"

/* Elements of a line; more only where one function has more. */
enum { LINE_ELEMENTS = 1 << 14 };
/* A row that holds for so many bytes is where functions that are alike differ. */
enum { LONG_ROW = 8 };

static const uint64_t HASH_BASE = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 29;
}

bool fuse_begin(struct fuse *fuse, const struct sf_section *section,
	const struct sf_fuse_options *options, struct err *err)
{
	*fuse = (struct fuse){.section = section,
		.options = options,
		.abi = sf_abi_find(section->abi),
		.layout = sf_layout_find(options->version)};
	return (fuse->abi && fuse->layout) ||
	       err_set(err, ERR_INTERNAL, "no such version or ABI to optimise for");
}

bool fuse_movable(const struct fuse *fuse, const struct sf_func *func)
{
	const struct sf_row *rows = fuse->section->rows + func->first_row;

	if (func->pcmask || func->signal_frame || func->n_rows == 0 ||
		func->size > FUSE_SIZE_MAX)
		return false;
	if (!fuse->layout->has_flex || !fuse->abi->has_flex)
		return true;
	for (uint32_t i = 0; i < func->n_rows; i++) {
		if (sf_row_needs_flex(fuse->abi, &rows[i]))
			return false;
	}
	return true;
}

/* ---- rows ---- */

static uint64_t hash_row(const struct sf_row *row)
{
	uint64_t words[] = {(uint32_t)row->cfa_off, (uint32_t)row->ra_off,
		(uint32_t)row->fp_off,
		(uint64_t)row->cfa.kind << 56 | (uint64_t)row->cfa.reg << 48 |
			(uint64_t)row->ra.kind << 40 | (uint64_t)row->ra.reg << 32 |
			(uint64_t)row->fp.kind << 24 | (uint64_t)row->fp.reg << 16 |
			(uint64_t)row->ra_signed << 8 | row->outermost};

	return hash_bytes((const uint8_t *)words, sizeof(words));
}

static bool kinds_grow(struct fuse_kinds *kinds)
{
	size_t n = kinds->n_slots ? kinds->n_slots * 2 : 256;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < kinds->n; i++) {
		size_t at = kinds->list[i].hash & (n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(kinds->slots);
	kinds->slots = slots;
	kinds->n_slots = n;
	return true;
}

static bool kind_add(
	struct fuse *fuse, const struct sf_row *row, uint64_t hash, uint32_t *out)
{
	struct fuse_kinds *kinds = &fuse->kinds;
	struct fuse_kind kind = {.row = *row, .hash = hash};
	struct wr bytes;

	kind.row.start = 0;
	wr_init(&bytes, fuse->section->big_endian);
	sf_put_row(&bytes, fuse->abi, &kind.row, SFRAME_FRE_TYPE_ADDR1,
		SFRAME_FDE_TYPE_DEFAULT);
	kind.len = (uint32_t)bytes.size - 1;
	if (bytes.failed || !vec_reserve(&kinds->list, &kinds->cap, kinds->n + 1)) {
		wr_deinit(&bytes);
		return false;
	}
	wr_deinit(&bytes);
	kinds->list[kinds->n++] = kind;
	*out = (uint32_t)kinds->n;
	return true;
}

static bool kind_of(struct fuse *fuse, const struct sf_row *row, uint32_t *out)
{
	struct fuse_kinds *kinds = &fuse->kinds;
	uint64_t hash = hash_row(row);
	size_t at;

	if (kinds->n >= kinds->n_slots / 2 && !kinds_grow(kinds))
		return false;
	at = hash & (kinds->n_slots - 1);
	while (kinds->slots[at] &&
		!sf_row_same(&kinds->list[kinds->slots[at] - 1].row, row))
		at = (at + 1) & (kinds->n_slots - 1);
	if (!kinds->slots[at] && !kind_add(fuse, row, hash, &kinds->slots[at]))
		return false;
	*out = kinds->slots[at] - 1;
	return true;
}

bool fuse_kinds_read(struct fuse *fuse)
{
	const struct sf_section *section = fuse->section;

	fuse->kinds.of_row = calloc(section->n_rows + 1, sizeof(*fuse->kinds.of_row));
	if (!fuse->kinds.of_row)
		return false;
	for (size_t i = 0; i < section->n_rows; i++) {
		if (!kind_of(fuse, &section->rows[i], &fuse->kinds.of_row[i]))
			return false;
	}
	return true;
}

/* ---- elements ---- */

bool fuse_border(struct fuse *fuse, const struct sf_func *a, const struct sf_func *b)
{
	const struct sf_fuse_options *options = fuse->options;
	uint64_t end = a->start + a->size;

	if (b->start - end > SF_FUSE_PADDING_MAX || a->pauth_b != b->pauth_b)
		return true;
	while (fuse->taken < options->n_taken && options->taken[fuse->taken].end < end)
		fuse->taken++;
	if (fuse->taken < options->n_taken &&
		options->taken[fuse->taken].start <= b->start)
		return true;
	return b->start > end && options->is_padding &&
	       !options->is_padding(options->context, end, b->start);
}

static bool add_element(struct fuse *fuse, struct fuse_element *now)
{
	struct fuse_line *line = &fuse->line;

	if (!vec_reserve(&line->list, &line->cap, line->n + 2))
		return false;
	now->hash = line->sum.hash;
	now->rows = line->sum.rows;
	now->bytes = line->sum.bytes;
	now->counted = line->n == now->chain || now->kind != line->list[line->n - 1].kind;
	if (now->counted) {
		uint64_t before = line->n ? line->list[line->sum.last].addr : 0;

		line->sum.hash = line->sum.hash * HASH_BASE +
				 mix((now->addr - before) * HASH_BASE + now->kind);
		line->sum.rows++;
		line->sum.bytes += fuse->kinds.list[now->kind].len;
		line->sum.last = (uint32_t)line->n;
	}
	now->last = line->sum.last;
	line->list[line->n++] = *now;
	return true;
}

static bool add_mark(struct fuse_line *line, size_t at)
{
	if (!vec_reserve(&line->marks, &line->cap_marks, line->n_marks + 1))
		return false;
	line->marks[line->n_marks++] = (uint32_t)at;
	return true;
}

static bool add_function(struct fuse *fuse, size_t i, bool joined)
{
	struct fuse_line *line = &fuse->line;
	const struct sf_func *func = &fuse->section->funcs[i];
	const struct sf_row *rows = fuse->section->rows + func->first_row;
	const uint32_t *kinds = fuse->kinds.of_row + func->first_row;
	uint32_t begin = (uint32_t)line->n;
	struct fuse_element now = {.func = (uint32_t)i, .begin = begin};

	now.chain = joined ? line->list[line->n - 1].chain : begin;
	if (!add_mark(line, line->n))
		return false;
	for (uint32_t j = 0; j < func->n_rows; j++) {
		if (j && kinds[j] == kinds[j - 1])
			continue;
		if (j && rows[j].start - rows[j - 1].start >= LONG_ROW &&
			!add_mark(line, line->n))
			return false;
		now.addr = func->start + rows[j].start;
		now.kind = kinds[j];
		if (!add_element(fuse, &now))
			return false;
	}
	return true;
}

/* The end of the line, and what is known only from there. */
static bool finish(struct fuse *fuse)
{
	struct fuse_line *line = &fuse->line;
	struct fuse_element end = line->sum;
	uint32_t next = (uint32_t)line->n;

	if (!vec_reserve(&line->list, &line->cap, line->n + 1) ||
		!vec_reserve(&fuse->powers, &fuse->cap_powers, line->n + 1))
		return false;
	line->list[line->n] = end;
	for (size_t i = line->n; i-- > 0;) {
		line->list[i].next = next;
		if (line->list[i].counted)
			next = (uint32_t)i;
	}
	if (fuse->n_powers == 0)
		fuse->powers[fuse->n_powers++] = 1;
	for (; fuse->n_powers <= line->n; fuse->n_powers++)
		fuse->powers[fuse->n_powers] =
			fuse->powers[fuse->n_powers - 1] * HASH_BASE;
	return add_mark(line, line->n);
}

bool fuse_line_read(struct fuse *fuse, size_t first)
{
	const struct sf_section *section = fuse->section;
	struct fuse_line *line = &fuse->line;
	const struct sf_func *last = NULL;
	uint64_t chain = 0;
	size_t i;

	line->n = line->n_marks = 0;
	line->sum = (struct fuse_element){0};
	line->first = first;
	/* From one line to the next it only goes on. */
	if (first <= fuse->at)
		fuse->taken = 0;
	fuse->at = first;
	for (i = first; i < section->n_funcs && line->n < LINE_ELEMENTS; i++) {
		const struct sf_func *func = &section->funcs[i];
		bool joined;

		if (!fuse_movable(fuse, func)) {
			last = NULL;
			continue;
		}
		joined = last && !fuse_border(fuse, last, func) &&
			 func->start + func->size - chain <= FUSE_SIZE_MAX;
		if (!joined)
			chain = func->start;
		if (!add_function(fuse, i, joined))
			return false;
		last = func;
	}
	line->end = i;
	return finish(fuse);
}

struct fuse_piece fuse_piece_at(const struct fuse *fuse, uint32_t from, uint32_t to)
{
	const struct fuse_element *list = fuse->line.list, *head = &list[from];
	struct fuse_piece piece = {from, to, 0, 0, 0};
	const struct fuse_element *end = &list[to], *next = &list[head->next], *rest;
	uint32_t width = 1;
	uint64_t hash = head->kind;

	piece.n_rows = 1 + end->rows - list[from + 1].rows;
	if (piece.n_rows > 1) {
		uint64_t reach = list[list[to - 1].last].addr - head->addr;

		width = reach <= UINT8_MAX ? 1 : reach <= UINT16_MAX ? 2 : 4;
		rest = next + 1;
		hash = mix(hash * HASH_BASE + (next->addr - head->addr)) * HASH_BASE +
		       next->kind;
		hash += mix(
			end->hash - rest->hash * fuse->powers[end->rows - rest->rows]);
	}
	hash = mix(hash) + piece.n_rows;
	if (fuse->attr_len && fuse->section->funcs[head->func].pauth_b)
		hash += HASH_BASE;
	piece.hash = mix(hash);
	piece.len = fuse->attr_len + fuse->kinds.list[head->kind].len + end->bytes -
		    list[from + 1].bytes + width * piece.n_rows;
	return piece;
}

void fuse_start_anew(struct fuse *copy)
{
	copy->line = (struct fuse_line){0};
	copy->powers = NULL;
	copy->n_powers = copy->cap_powers = 0;
	copy->taken = 0;
}

void fuse_line_deinit(struct fuse *fuse)
{
	free(fuse->line.list);
	free(fuse->line.marks);
	free(fuse->powers);
}

void fuse_deinit(struct fuse *fuse)
{
	free(fuse->kinds.list);
	free(fuse->kinds.slots);
	free(fuse->kinds.of_row);
	fuse_line_deinit(fuse);
}
