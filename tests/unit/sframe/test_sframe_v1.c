/* SPDX-License-Identifier: MIT */
/* Version 1: its bytes, and PLTs, which it cannot describe as such. */
#include "sframe/check.h"
#include "tests/unit/sframe/test_sframe_random.h"

enum { ADDR = 0x2188, AMD64 = SFRAME_ABI_AMD64_ENDIAN_LITTLE };

/* PLT0 and entries of 16 bytes, of which the last is shorter, and a function. */
static struct sf_section plt_model(void)
{
	struct sf_section model = fixture_section(AMD64);

	fixture_func(&model, 0x1020, 16);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 16));
	fixture_row(&model, fixture_cfa(6, AMD64_SP, 24));
	fixture_func(&model, 0x1030, 16 + 16 + 11);
	model.funcs[1].pcmask = true;
	model.funcs[1].rep_size = 16;
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	fixture_row(&model, fixture_cfa(11, AMD64_SP, 16));
	fixture_func(&model, 0x1060, 5);
	fixture_row(&model, fixture_cfa(0, AMD64_FP, 16));
	return model;
}

static const uint8_t plt_bytes[] = {0xe2, 0xde, 1, 1, 3, 0, 0xf8, 0, 5, 0, 0, 0, 8, 0, 0,
    0, 15, 0, 0, 0, 0, 0, 0, 0, 85, 0, 0, 0,
    /* starts from the section */
    0x98, 0xee, 0xff, 0xff, 16, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, /* PLT0 */
    0xa8, 0xee, 0xff, 0xff, 16, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 0, /* entries */
    0xb8, 0xee, 0xff, 0xff, 16, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 0, /* shared */
    0xc8, 0xee, 0xff, 0xff, 11, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0, /* cut short */
    0xd8, 0xee, 0xff, 0xff, 5, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0,
    /* rows */
    0, 3, 16, 6, 3, 24, 0, 3, 8, 11, 3, 16, 0, 2, 16};

UNIT(plt)
{
	struct sf_section model = plt_model(), flat = random_without_blocks(&model);
	struct wr wr = fixture_encode_as(1, &model, false, true, ADDR);
	struct sf_view view = fixture_open(&wr, ADDR);
	struct err err = {0};

	ck_assert_uint_eq(wr.size, sizeof(plt_bytes));
	for (size_t i = 0; i < wr.size; i++)
		ck_assert_msg(
		    wr.data[i] == plt_bytes[i], "+0x%zx: 0x%02x", i, wr.data[i]);
	ck_assert_uint_eq(flat.n_funcs, 5);
	fixture_expect(&view, &flat, 0);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr_deinit(&wr);

	wr = fixture_encode_as(1, &model, false, false, ADDR);
	ck_assert_uint_eq(wr.size, sizeof(plt_bytes) + 9);
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &flat, 0);
	wr_deinit(&wr);
	sf_section_deinit(&flat);
	sf_section_deinit(&model);
}

/* The counts are those of the stored rows, and they are limited. */
UNIT(stats_and_limit)
{
	struct sf_encode_options options = {.version = 1, .share = true};
	struct sf_section model = plt_model();
	struct sf_encode_stats stats;
	struct err err = {0};
	struct wr wr;

	wr_init(&wr, false);
	ck_assert(sf_encode(&model, &options, &wr, &stats, &err));
	ck_assert_uint_eq(stats.index_bytes, 28 + 5 * 17);
	ck_assert_uint_eq(stats.row_bytes, 15);
	ck_assert_uint_eq(stats.shared_away, 9);
	wr_deinit(&wr);
	model.n_funcs = 2;
	model.n_rows = 4;
	model.rows[3].start = 0;
	model.funcs[1].n_rows = 1;
	model.funcs[1].rep_size = 1;
	model.funcs[1].size = UINT32_MAX;
	ck_assert_int_eq(fixture_refused(&model, &options, "functions"), ERR_LIMIT);
	/* A hostile file says with a few bytes what has room in an index, but takes gigabytes. */
	model.funcs[1].size = 2 << 20;
	ck_assert_int_eq(fixture_refused(&model, &options, "functions"), ERR_LIMIT);
	sf_section_deinit(&model);
}

/* Each block must be within reach. */
UNIT(reach)
{
	struct sf_encode_options options = {.version = 1};
	struct sf_section model = plt_model();
	uint64_t last = 0x1020 + (UINT64_C(1) << 31);
	struct err err = {0};
	struct wr wr;

	wr_init(&wr, false);
	ck_assert(sf_encode(&model, &options, &wr, NULL, &err));
	ck_assert(sf_place(&model, &options, last, &wr, &err));
	ck_assert(!sf_place(&model, &options, last + 1, &wr, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "function at 0x1020 "));
	ck_assert(!sf_place(&model, &options, 0x1040 - (UINT64_C(1) << 31), &wr, &err));
	ck_assert_int_eq(err.kind, ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "function at 0x1040 "));
	/* One block has fewer bytes. */
	wr.size = 28 + 4 * 17;
	ck_assert(!sf_place(&model, &options, ADDR, &wr, &err));
	ck_assert_int_eq(err.kind, ERR_INTERNAL);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* It has no starts relative to their own field, no s390x and no outermost frames. */
UNIT(refused)
{
	struct sf_encode_options options = {.version = 1, .pcrel = true};
	struct sf_section model = plt_model();
	struct sf_section s390x = fixture_section(SFRAME_ABI_S390X_ENDIAN_BIG);

	ck_assert_int_eq(fixture_refused(&model, &options, "version 1 has no starts"),
	    ERR_UNSUPPORTED);
	options.pcrel = false;
	ck_assert_int_eq(fixture_refused(&s390x, &options, "version 1 for ABI 4 (s390x)"),
	    ERR_UNSUPPORTED);
	model.rows[3] = (struct sf_row){.start = 11, .outermost = true};
	ck_assert_int_eq(fixture_refused(&model, &options,
			     "function at 0x1030, row at +0xb: version 1 cannot say"),
	    ERR_UNSUPPORTED);
	sf_section_deinit(&model);
}

/* The bit that has a meaning in version 2 has none here, and must be 0. */
UNIT(pcrel_means_nothing)
{
	struct sf_section model = plt_model(), flat = random_without_blocks(&model);
	struct wr wr = fixture_encode_as(1, &model, false, true, ADDR);
	struct err err = {0};
	struct sf_view view;

	wr.data[SFRAME_HDR_FLAGS] |= SFRAME_F_FDE_FUNC_START_PCREL;
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &flat, 0);
	ck_assert(!sf_check_all(&view, &err));
	ck_assert_ptr_eq(strstr(err.text, "flags ("), err.text);
	wr_deinit(&wr);
	sf_section_deinit(&flat);
	sf_section_deinit(&model);
}

/*
 * GNU ld 2.40 wrote PCMASK functions. Their blocks are of 16 bytes and have no size
 * there. Rows that do not fit belong to no block.
 */
UNIT(pcmask_read)
{
	struct wr wr;
	struct sf_section model = plt_model();
	struct sf_view_func func;
	struct sf_view view;
	struct err err = {0};

	wr = fixture_encode_as(1, &model, false, true, ADDR);
	wr.data[28 + 17 + SFRAME_FDE_FUNC_INFO] = SFRAME_FUNC_INFO_PCMASK;
	view = fixture_open(&wr, ADDR);
	ck_assert(sf_view_func(&view, 1, &func, &err));
	ck_assert(func.func.pcmask);
	ck_assert_uint_eq(func.func.rep_size, 16);
	ck_assert(sf_view_func(&view, 2, &func, &err));
	ck_assert_uint_eq(func.func.rep_size, 0);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr.data[28 + 5 * 17 + 9] = 16;
	ck_assert(!sf_check_all(&view, &err));
	ck_assert_ptr_eq(strstr(err.text, "row-inside ("), err.text);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
