/* SPDX-License-Identifier: MIT */
/* Compares the cursor, which goes through rows by address, with a search for each PC. The
 * sections are sorted or not. */
#include <string.h>

#include "sframe/cursor.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum { BASE = 0x1000, SPACE = 400, ADDR = 0x9000, NO_ROW = -1 };

/* Random functions over [BASE, BASE + SPACE); each row has another CFA offset. */
static struct sf_section random_model(void)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	uint32_t at = (uint32_t)rand() % 20;
	int32_t off = 8;

	while (at < SPACE) {
		uint32_t size = 1 + (uint32_t)rand() % 60, start = 0, block = size;
		struct sf_func *func;

		if (size > SPACE - at)
			size = block = SPACE - at;
		fixture_func(&model, BASE + at, size);
		func = &model.funcs[model.n_funcs - 1];
		if (size > 3 && rand() % 2) {
			block = 1 + (uint32_t)rand() % (size < 20 ? size : 20);
			func->pcmask = true;
			func->rep_size = (uint8_t)block;
		}
		do {
			fixture_row(&model, fixture_cfa(start, AMD64_SP, off));
			off += 8;
			start += 1 + (uint32_t)rand() % 12;
		} while (start < block);
		at += size + (rand() % 2 ? 0 : (uint32_t)rand() % 10);
	}
	return model;
}

/* The CFA offset at pc, which names the row; NO_ROW when there is none. */
static int wanted_at(const struct sf_section *model, uint64_t pc)
{
	int found = NO_ROW;

	for (size_t i = 0; i < model->n_funcs; i++) {
		const struct sf_func *func = &model->funcs[i];
		uint64_t off = pc - func->start;

		if (pc < func->start || off >= func->size)
			continue;
		if (func->pcmask)
			off %= func->rep_size;
		for (uint32_t j = 0; j < func->n_rows; j++)
			if (model->rows[func->first_row + j].start <= off)
				found = model->rows[func->first_row + j].cfa_off;
	}
	return found;
}

/* Exchanges FDEs, whose starts are relative to the section, and clears the flag for their
 * order. */
static void shuffle(struct wr *wr, size_t n)
{
	uint8_t one[SFRAME_V2_FDE_SIZE];

	wr->data[SFRAME_HDR_FLAGS] &= (uint8_t)~SFRAME_F_FDE_SORTED;
	for (size_t i = 1; i < n; i++) {
		uint8_t *a = wr->data + SFRAME_HDR_SIZE + i * sizeof(one);
		uint8_t *b =
		    wr->data + SFRAME_HDR_SIZE + (size_t)rand() % (i + 1) * sizeof(one);

		memcpy(one, a, sizeof(one));
		memmove(a, b, sizeof(one));
		memcpy(b, one, sizeof(one));
	}
}

/*
 * Functions of size 0, as GNU as writes them. They hold for nothing, and some are inside
 * the one before.
 */
static void empty_some(struct sf_section *model, struct wr *wr)
{
	for (size_t i = 1; i < model->n_funcs; i++) {
		uint8_t *fde = wr->data + SFRAME_HDR_SIZE + i * SFRAME_V2_FDE_SIZE;
		struct sf_func *func = &model->funcs[i], *before = func - 1;
		int32_t start, back = (int32_t)(func->start - before->start);

		if (rand() % 4)
			continue;
		func->size = 0;
		memset(fde + SFRAME_FDE_FUNC_SIZE, 0, 4);
		if (rand() % 2)
			continue;
		back = rand() % (back + 1);
		memcpy(&start, fde, sizeof(start));
		start -= back;
		memcpy(fde, &start, sizeof(start));
		func->start -= (uint64_t)back;
	}
}

/* Compares everything in [from, to) PC by PC with the model. */
static void cursor_range(
    struct sf_cursor *cursor, const struct sf_section *model, uint64_t from, uint64_t to)
{
	struct sf_segment segment = {0};
	struct sf_row_iter stored;
	struct sf_row row;
	struct err err = {0};
	uint64_t pc = from;

	sf_cursor_seek(cursor, from);
	while (sf_cursor_next(cursor, to, &segment, &err)) {
		if (segment.start < pc || segment.end <= segment.start ||
		    segment.end > to)
			ck_abort_msg("segment out of order");
		sf_rows_begin(cursor->view, &cursor->func, &stored);
		stored.off = segment.off;
		if (!sf_rows_next(&stored, &row, &err) ||
		    row.start != segment.row->start || !sf_row_same(&row, segment.row))
			ck_abort_msg("another row at +0x%x", (unsigned int)segment.off);
		for (; pc < segment.start; pc++)
			if (wanted_at(model, pc) != NO_ROW)
				ck_abort_msg("no row at 0x%x", (unsigned int)pc);
		for (; pc < segment.end; pc++)
			if (wanted_at(model, pc) != segment.row->cfa_off)
				ck_abort_msg("another row at 0x%x", (unsigned int)pc);
	}
	ck_assert_msg(!cursor->failed, "%s", err.text);
	for (; pc < to; pc++)
		if (wanted_at(model, pc) != NO_ROW)
			ck_abort_msg("no row at the end, 0x%x", (unsigned int)pc);
}

static void cursor_everything(const struct sf_section *model, const struct sf_view *view)
{
	static struct sf_cursor cursor; /* large */
	struct err err = {0};

	ck_assert_msg(sf_cursor_init(&cursor, view, &err), "%s", err.text);
	cursor_range(&cursor, model, 0, BASE + 2 * SPACE);
	/* Back and forth. */
	for (int i = 0; i < 40; i++) {
		uint64_t from = BASE + (uint64_t)rand() % SPACE;

		cursor_range(&cursor, model, from, from + (uint64_t)rand() % 80);
	}
	sf_cursor_deinit(&cursor);
	sf_cursor_deinit(&cursor);
}

UNIT_LOOP(sorted_and_not, 1, 9)
{
	srand((unsigned int)_i);
	for (int i = 0; i < 20; i++) {
		struct sf_section model = random_model();
		struct wr wr = fixture_encode(&model, false, rand() % 2, ADDR);
		struct sf_view view = fixture_open(&wr, ADDR);

		cursor_everything(&model, &view);
		empty_some(&model, &wr);
		cursor_everything(&model, &view);
		shuffle(&wr, model.n_funcs);
		view = fixture_open(&wr, ADDR);
		cursor_everything(&model, &view);
		wr_deinit(&wr);
		sf_section_deinit(&model);
	}
}

/* A row of the model must hold up to its end and no further. */
UNIT_LOOP(model_rows, 1, 5)
{
	srand((unsigned int)_i);
	for (int i = 0; i < 20; i++) {
		struct sf_section model = random_model();

		for (uint64_t pc = BASE - 2; pc < BASE + SPACE + 2; pc++) {
			uint64_t end = UINT64_MAX;
			const struct sf_row *row = sf_section_row_at(&model, pc, &end);
			int wanted = wanted_at(&model, pc);

			if ((row ? row->cfa_off : NO_ROW) != wanted || end <= pc)
				ck_abort_msg("at 0x%x", (unsigned int)pc);
			for (uint64_t to = pc; to < end && to < BASE + SPACE + 2; to++)
				if (wanted_at(&model, to) != wanted)
					ck_abort_msg("0x%x to 0x%x", (unsigned int)pc,
					    (unsigned int)to);
		}
		sf_section_deinit(&model);
	}
}

UNIT(no_functions)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct wr wr = fixture_encode(&model, true, true, ADDR);
	struct sf_view view = fixture_open(&wr, ADDR);
	uint64_t end = 77;

	cursor_everything(&model, &view);
	ck_assert(!sf_section_row_at(&model, 5, &end) && end == 77);
	wr_deinit(&wr);
}

/* A few bytes stand for 4 GiB of one-byte blocks. The work ends with an error. */
UNIT(bounded)
{
	static struct sf_cursor cursor;
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_segment segment;
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, BASE, UINT32_MAX);
	model.funcs[0].pcmask = true;
	model.funcs[0].rep_size = 1;
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	wr = fixture_encode(&model, false, false, ADDR);
	view = fixture_open(&wr, ADDR);
	ck_assert(sf_cursor_init(&cursor, &view, &err));
	cursor.n_segments = SF_CURSOR_MAX_SEGMENTS - 2;
	ck_assert(sf_cursor_next(&cursor, UINT64_MAX, &segment, &err));
	ck_assert(sf_cursor_next(&cursor, UINT64_MAX, &segment, &err));
	ck_assert(!sf_cursor_next(&cursor, UINT64_MAX, &segment, &err));
	ck_assert(cursor.failed && err.kind == ERR_LIMIT);
	sf_cursor_deinit(&cursor);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
