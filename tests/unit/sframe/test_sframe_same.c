/* SPDX-License-Identifier: MIT */
/* Functions of a model that have the same rows. They are stored once, unless one of them
 * has more to say. */
#include "tests/unit/sframe/test_sframe_fixture.h"

enum { ADDR = 0x2000, START = 0x1000, SIZE = 32, N = 4 };

/* The second is as the first, the third a signal frame, the fourth a PCMASK function. */
static struct sf_section make_model(void)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);

	fixture_func(&model, START, SIZE);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	fixture_row(&model, fixture_cfa(4, AMD64_SP, 16));
	for (uint64_t i = 1; i < N; i++)
		ck_assert(sf_section_add_same(&model, 0, START + i * SIZE, SIZE));
	model.funcs[2].signal_frame = true;
	model.funcs[3].pcmask = true;
	model.funcs[3].rep_size = 16;
	return model;
}

UNIT_LOOP(marks_stay_apart, 0, 4)
{
	bool share = _i & 1;
	uint8_t version = (uint8_t)(2 + _i / 2);
	struct sf_section model = make_model();
	struct sf_view_func funcs[N];
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	ck_assert_uint_eq(model.n_rows, 2);
	wr = fixture_encode_as(version, &model, true, share, ADDR);
	view = fixture_open(&wr, ADDR);
	for (uint32_t i = 0; i < N; i++) {
		struct sf_row_iter iter;
		struct sf_row row;

		ck_assert_msg(sf_view_func(&view, i, &funcs[i], &err), "%s", err.text);
		ck_assert_uint_eq(funcs[i].func.start, START + i * SIZE);
		ck_assert_int_eq(funcs[i].func.signal_frame, version > 2 && i == 2);
		ck_assert_int_eq(funcs[i].func.pcmask, i == 3);
		ck_assert_uint_eq(funcs[i].func.rep_size, i == 3 ? 16 : 0);
		sf_rows_begin(&view, &funcs[i], &iter);
		for (size_t j = 0; j < 2; j++) {
			ck_assert(sf_rows_next(&iter, &row, &err));
			ck_assert(sf_row_same(&row, &model.rows[j]));
			ck_assert_uint_eq(row.start, model.rows[j].start);
		}
		ck_assert(!sf_rows_next(&iter, &row, &err));
	}
	ck_assert_int_eq(funcs[1].rows_off == funcs[0].rows_off, share);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* One of the functions with the same rows ends before the last of them. */
UNIT(too_short)
{
	struct sf_section model = make_model();
	const struct sf_encode_options options = {.version = 2, .share = true};

	model.n_funcs = 2;
	model.funcs[1].size = 4;
	ck_assert_int_eq(
	    fixture_refused(&model, &options, "last row is past"), ERR_INTERNAL);
	sf_section_deinit(&model);
}

/* In version 3 the key stands in front of the rows. */
UNIT(keys_stay_apart)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AARCH64_ENDIAN_LITTLE);
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, START, SIZE);
	fixture_row(&model, fixture_cfa(0, AARCH64_SP, 16));
	ck_assert(sf_section_add_same(&model, 0, START + SIZE, SIZE));
	model.funcs[1].pauth_b = true;
	wr = fixture_encode_as(3, &model, true, true, ADDR);
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
