/* SPDX-License-Identifier: MIT */
/* Blocks of rows that are stored once, and the functions that share them. */
#include "tests/unit/sframe/test_sframe_fixture.h"

/*
 * Equal rows are stored once, each function still reads its own, and the counts say so.
 */
UNIT(sharing)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_encode_options options = {.version = 2, .pcrel = true, .share = true};
	struct sf_encode_stats stats;
	struct err err = {0};
	struct sf_view view;
	struct wr apart, wr;

	for (uint32_t i = 0; i < 5000; i++) {
		fixture_func(&model, 0x1000 + 64 * i, 64);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(
		    &model, fixture_cfa(1 + i % 50, AMD64_SP, 16 + (int32_t)(i % 2)));
	}
	wr_init(&wr, false);
	ck_assert(sf_encode(&model, &options, &wr, &stats, &err));
	ck_assert(sf_place(&model, &options, 0x900000, &wr, &err));
	ck_assert_uint_eq(stats.index_bytes, 28 + UINT64_C(5000) * 20);
	ck_assert_uint_eq(stats.row_bytes, 300);
	ck_assert_uint_eq(stats.shared_away, 29700);
	view = fixture_open(&wr, 0x900000);
	ck_assert_uint_eq(view.n_rows, 10000);
	ck_assert_uint_eq(view.row_len, 300);
	fixture_expect(&view, &model, 0);
	apart = fixture_encode(&model, true, false, 0x900000);
	ck_assert_uint_eq(apart.size, wr.size + stats.shared_away);
	wr_deinit(&apart);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/*
 * A block is not stored when a longer one begins with it, in any order. In version 3 the
 * count of rows comes before them, so all are stored.
 */
UNIT(sharing_beginnings)
{
	static const uint32_t n_rows[] = {1, 3, 2, 20, 2, 7, 19};
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct wr wr;

	for (uint32_t i = 0; i < 7; i++) {
		fixture_func(&model, 0x1000 + 256 * i, 256);
		for (uint32_t j = 0; j < n_rows[i]; j++)
			fixture_row(
			    &model, fixture_cfa(j, AMD64_SP, 8 + 8 * (int32_t)(j % 4)));
	}
	/* The second begins like the others and ends unlike them. */
	model.rows[3].cfa_off = 40;
	for (uint8_t version = 1; version <= 3; version++) {
		struct sf_view view;

		wr = fixture_encode_as(version, &model, version > 1, true, 0x900000);
		view = fixture_open(&wr, 0x900000);
		ck_assert_uint_eq(view.row_len,
		    version < 3 ? (20 + 3) * 3
				: (1 + 3 + 2 + 20 + 7 + 19) * 3 + UINT64_C(6) * 5);
		fixture_expect(&view, &model, version);
		wr_deinit(&wr);
	}
	sf_section_deinit(&model);
}

/*
 * More distinct blocks than the table starts with; each is found again after it has
 * grown.
 */
UNIT(sharing_many)
{
	enum { N_BLOCKS = 3000 };
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct wr wr;

	for (uint32_t i = 0; i < 2 * N_BLOCKS; i++) {
		fixture_func(&model, 0x1000 + 64 * i, 64);
		fixture_row(
		    &model, fixture_cfa(0, AMD64_SP, 1000 + (int32_t)(i % N_BLOCKS)));
	}
	wr = fixture_encode(&model, true, true, 0x100);
	ck_assert_uint_eq(wr.size, 28 + 2 * N_BLOCKS * 20 + N_BLOCKS * 4);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* Two in three blocks begin another one, which may be anywhere. */
UNIT(sharing_of_many_beginnings)
{
	enum { N_BLOCKS = 40000 };
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_view view;
	struct wr wr;

	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		uint32_t kind = (uint32_t)((i * UINT64_C(7919)) % N_BLOCKS);

		fixture_func(&model, 0x1000 + 64 * i, 64);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(&model, fixture_cfa(1, AMD64_SP, 1000 + (int32_t)kind / 3));
		for (uint32_t j = 0; j < kind % 3; j++)
			fixture_row(&model, fixture_cfa(2 + j, AMD64_SP, 16));
	}
	wr = fixture_encode(&model, true, true, 0x100);
	/* One block of 3 + 5 + 3 + 3 bytes, or less for the last, where there were three.
	 */
	ck_assert_uint_lt(wr.size, 28 + N_BLOCKS * 20 + (N_BLOCKS / 3 + 2) * 14);
	view = fixture_open(&wr, 0x100);
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/*
 * Where sharing would exceed the reader's own bound on work, the writer does not share.
 */
UNIT(sharing_within_readers_bound)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_view view;
	struct wr wr;

	for (uint32_t i = 0; i < 400; i++) {
		fixture_func(&model, 0x1000 + 0x1000 * i, 0x1000);
		for (uint32_t j = 0; j < 3000; j++)
			fixture_row(&model, (struct sf_row){.start = j, .outermost = 1});
	}
	wr = fixture_encode(&model, true, true, 0x100);
	ck_assert_uint_eq(wr.size, 28 + 400 * (20 + 3000 * 3));
	view = fixture_open(&wr, 0x100);
	ck_assert_uint_eq(view.n_rows, 400 * 3000);
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
