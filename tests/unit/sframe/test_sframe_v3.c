/* SPDX-License-Identifier: MIT */
/* Version 3: its bytes and limits, and what its reader accepts. */
#include "sframe/check.h"
#include "sframe/dump.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum {
	ADDR = 0x20f4,
	AMD64 = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
	INDEX = SFRAME_HDR_SIZE,
	ATTR_1 = INDEX + SFRAME_V3_FDE_SIZE, /* of the only function */
	ROWS_1 = ATTR_1 + SFRAME_V3_ATTR_SIZE,
};

/*
 * main() of a program that realigns its stack, as GNU as 2.46 wrote it (the start field
 * is the linker's), and an ordinary function after it.
 */
static struct sf_section drap_model(void)
{
	struct sf_section model = fixture_section(AMD64);

	fixture_func(&model, 0x103c, 32);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	fixture_row(&model, fixture_cfa(5, 10, 0));
	fixture_row(&model,
	    fixture_with_fp(fixture_cfa(0x11, 10, 0), SF_LOC_AT_REG, AMD64_FP, 0));
	fixture_row(&model, fixture_with_fp(fixture_at_reg(0x13, AMD64_FP, -8),
				SF_LOC_AT_REG, AMD64_FP, 0));
	fixture_row(&model,
	    fixture_with_fp(fixture_cfa(0x1a, 10, 0), SF_LOC_AT_REG, AMD64_FP, 0));
	fixture_row(&model, fixture_cfa(0x1f, AMD64_SP, 8));
	fixture_func(&model, 0x1060, 0x40);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	fixture_row(
	    &model, fixture_with_fp(fixture_cfa(1, AMD64_SP, 16), SF_LOC_AT_CFA, 0, -16));
	return model;
}

static const uint8_t drap_index[] = {
    0x2c, 0xef, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0, 0, 0, 0, 0};
/* Six rows, ADDR1, flexible. */
static const uint8_t drap_rows[] = {6, 0, 0, 1, 0, 0x00, 0x04, 57, 8, 0x05, 0x04, 81, 0,
    0x11, 0x0a, 81, 0, 0, 51, 0, 0x13, 0x0a, 51, 0xf8, 0, 51, 0, 0x1a, 0x0a, 81, 0, 0, 51,
    0, 0x1f, 0x04, 57, 8};

UNIT(worked_bytes_read)
{
	static const uint8_t header[] = {0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0, 5, 0, 0, 0, 10,
	    0, 0, 0, 0x4c, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0};
	struct sf_section model = drap_model();
	struct sf_view_func func;
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	wr_init(&wr, false);
	wr_bytes(&wr, header, sizeof(header));
	wr_bytes(&wr, drap_index, sizeof(drap_index));
	wr_zeros(&wr, 4 * SFRAME_V3_FDE_SIZE);
	ck_assert_uint_eq(wr.size, 0x6c);
	wr_bytes(&wr, drap_rows, sizeof(drap_rows));
	wr_zeros(&wr, 0x4c - sizeof(drap_rows));
	view = fixture_open(&wr, ADDR);
	ck_assert_uint_eq(view.n_funcs, 5);
	ck_assert_uint_eq(view.n_rows, 10);
	ck_assert_uint_eq(view.row_off, 0x6c);
	view.n_funcs = 1;
	model.n_funcs = 1;
	fixture_expect(&view, &model, 0);
	ck_assert(sf_view_func(&view, 0, &func, &err));
	ck_assert(func.flex);
	ck_assert_uint_eq(func.rows_off, 5);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

UNIT(worked_bytes_written)
{
	static const uint8_t header[] = {0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0, 2, 0, 0, 0, 8,
	    0, 0, 0, 0x32, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0};
	static const uint8_t index_1[] = {
	    0x40, 0xef, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x40, 0, 0, 0, 0x26, 0, 0, 0};
	static const uint8_t rows_1[] = {
	    2, 0, 0, 0, 0, 0x00, 0x03, 8, 0x01, 0x05, 16, 0xf0};
	struct sf_section model = drap_model();
	struct wr wr = fixture_encode_as(3, &model, true, false, ADDR);
	struct sf_view view = fixture_open(&wr, ADDR);
	struct err err = {0};

	ck_assert_uint_eq(wr.size, 28 + 2 * 16 + 0x32);
	ck_assert_mem_eq(wr.data, header, 28);
	ck_assert_mem_eq(wr.data + 28, drap_index, 16);
	ck_assert_mem_eq(wr.data + 44, index_1, 16);
	ck_assert_mem_eq(wr.data + 60, drap_rows, sizeof(drap_rows));
	ck_assert_mem_eq(wr.data + 60 + 0x26, rows_1, sizeof(rows_1));
	fixture_expect(&view, &model, 0);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr_deinit(&wr);

	wr = fixture_encode_as(3, &model, false, false, ADDR);
	ck_assert_uint_eq(wr.data[SFRAME_HDR_FLAGS], SFRAME_F_FDE_SORTED);
	ck_assert_mem_eq(wr.data + 28, "\x48\xef\xff\xff\xff\xff\xff\xff", 8);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* Attribute and rows are shared together, and only with equal ones. */
UNIT(sharing)
{
	struct sf_section model = fixture_section(AMD64);
	struct sf_view view;
	struct wr wr;

	for (uint32_t i = 0; i < 6; i++) {
		fixture_func(&model, 0x1000 + 64 * i, 64);
		model.funcs[i].signal_frame = i >= 4;
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		if (i % 2)
			fixture_row(&model, fixture_cfa(4, AMD64_SP, 16));
	}
	wr = fixture_encode_as(3, &model, true, true, ADDR);
	view = fixture_open(&wr, ADDR);
	ck_assert_uint_eq(view.n_rows, 9);
	ck_assert_uint_eq(view.row_len, 2 * (5 + 3) + 2 * (5 + 6));
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* Signal frames are marked, and may have no rows; others must have some. */
UNIT(signal_frames)
{
	struct sf_encode_options options = {.version = 3, .pcrel = true};
	struct sf_section model = fixture_section(AMD64);
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	model.funcs[0].signal_frame = true;
	wr = fixture_encode_as(3, &model, true, true, ADDR);
	ck_assert_uint_eq(wr.size, ROWS_1);
	ck_assert_mem_eq(wr.data + ATTR_1, "\0\0\x80\0\0", 5);
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &model, 0);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);

	/* GNU as also writes unmarked ones, for functions without any CFI. */
	wr.data[ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO] = 0;
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr.data[ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO] = SFRAME_FUNC_INFO_PCMASK;
	wr.data[ATTR_1 + SFRAME_V3_ATTR_FUNC_REP_SIZE] = 1;
	ck_assert(!sf_check_all(&view, &err));
	ck_assert_ptr_eq(strstr(err.text, "rows-some: "), err.text);
	wr_deinit(&wr);

	model.funcs[0].pcmask = true;
	model.funcs[0].rep_size = 16;
	ck_assert_int_eq(fixture_refused(&model, &options, "no rows"), ERR_INTERNAL);
	model.funcs[0].pcmask = false;
	model.funcs[0].rep_size = 0;
	model.funcs[0].signal_frame = false;
	ck_assert_int_eq(fixture_refused(&model, &options, "no rows"), ERR_INTERNAL);
	model.funcs[0].signal_frame = true;
	options.version = 2;
	ck_assert_int_eq(fixture_refused(&model, &options, "no rows"), ERR_INTERNAL);
	sf_section_deinit(&model);
}

/* The row count of each function has 16 bits. */
UNIT(row_limit)
{
	struct sf_encode_options options = {.version = 3, .pcrel = true};
	struct sf_section model = fixture_section(AMD64);
	struct sf_view view;
	struct wr wr;

	for (uint32_t i = 0; i < 2; i++) {
		fixture_func(&model, 0x1000 + 0x20000 * i, 0x20000);
		for (uint32_t j = 0; j < 65535; j++)
			fixture_row(
			    &model, fixture_cfa(j, AMD64_SP, 8 * (int32_t)(j % 2)));
	}
	wr = fixture_encode_as(3, &model, true, true, ADDR);
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &model, 0);
	ck_assert_uint_eq(view.n_rows, 2 * 65535);
	wr_deinit(&wr);
	fixture_row(&model, fixture_cfa(65535, AMD64_SP, 8));
	ck_assert_int_eq(
	    fixture_refused(&model, &options,
		"function at 0x21000: 65536 rows, but version 3 counts only to 65535"),
	    ERR_LIMIT);
	options.version = 2;
	wr = fixture_encode_as(2, &model, true, false, ADDR);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* 64 bits reach any place from any place. */
UNIT(far_apart)
{
	const uint64_t high = UINT64_C(0xffff800000001000);
	struct sf_section model = fixture_section(AMD64);

	fixture_func(&model, 0, 64);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	fixture_func(&model, high, 64);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t addr = i & 1 ? ADDR : high + 0x1000;
		struct wr wr = fixture_encode_as(3, &model, i & 2, false, addr);
		struct sf_view view = fixture_open(&wr, addr);

		fixture_expect(&view, &model, 0);
		wr_deinit(&wr);
	}
	sf_section_deinit(&model);
}

/*
 * Sections as other producers may write them: an auxiliary header, gaps before both sub-sections,
 * rows that are shared or in another order than functions, zeros at the end.
 */
UNIT(tolerated)
{
	static const uint8_t bytes[] = {0xe2, 0xde, 3, 1, 3, 0, 0xf8, 3, 3, 0, 0, 0, 3, 0,
	    0, 0, 16, 0, 0, 0, 2, 0, 0, 0, 51, 0, 0, 0, 9, 9, 9, 9, 9, 0x00, 0xf0, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 8, 0, 0, 0, 0x10, 0xf0, 0xff, 0xff,
	    0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 0, 0, 0, 0, 0x20, 0xf0, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff, 5, 0, 0, 0, 8, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0x00, 0x03, 8, 1,
	    0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct sf_section model = fixture_section(AMD64);
	struct err err = {0};
	struct sf_view view;

	for (uint32_t i = 0; i < 3; i++) {
		fixture_func(&model, 0x2000 + 16 * i, 5);
		if (i == 1)
			fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		else
			fixture_row(&model, (struct sf_row){.outermost = true});
	}
	ck_assert_msg(
	    sf_view_open(bytes, sizeof(bytes), 0x3000, &view, &err), "%s", err.text);
	fixture_expect(&view, &model, 0);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	sf_section_deinit(&model);
}

/* The letters of readelf --sframe, which was compared on random sections. */
UNIT(printed)
{
	static const char want[] =
	    "\n    func idx [0]: pc = 0x103c, size = 32 bytes, attr = \"SF\"\n"
	    "    STARTPC            CFA       FP        RA\n"
	    "    000000000000103c  sp+8      u         f\n"
	    "    0000000000001041  r10+0     u         f\n"
	    "    000000000000104d  r10+0     (fp+0)    f\n"
	    "    000000000000104f  (fp-8)    (fp+0)    f\n"
	    "    0000000000001056  r10+0     (fp+0)    r3+0\n"
	    "    000000000000105b  sp+8      u         c-16\n";
	struct sf_section model = drap_model();
	struct err err = {0};
	struct sf_view view;
	struct wr wr;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	model.funcs[0].signal_frame = true;
	model.rows[4] = fixture_with_ra(model.rows[4], SF_LOC_REG, 3, 0);
	model.rows[5] = fixture_with_ra(model.rows[5], SF_LOC_AT_CFA, 0, -16);
	model.n_funcs = 1;
	wr = fixture_encode_as(3, &model, true, false, ADDR);
	view = fixture_open(&wr, ADDR);
	ck_assert(sf_dump(&view, ".sframe", out, &err));
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "SFRAME_VERSION_3"));
	ck_assert_ptr_nonnull(strstr(text, "\n    func idx"));
	ck_assert_str_eq(strstr(text, "\n    func idx"), want);
	free(text);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
