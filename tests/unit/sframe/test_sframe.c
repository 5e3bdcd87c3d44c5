/* SPDX-License-Identifier: MIT */
/* The exact bytes of versions 1 and 2, and what the writer refuses. */
#include <string.h>

#include "tests/unit/sframe/test_sframe_fixture.h"

static const uint8_t plt_header[] = {0xe2, 0xde, 2, 5, 3, 0, 0xf8, 0, 8, 0, 0, 0, 0x1a, 0,
    0, 0, 0x5a, 0, 0, 0, 0, 0, 0, 0, 0xa0, 0, 0, 0};
static const uint8_t plt_func_0[] = {
    0x7c, 0xee, 0xff, 0xff, 0x10, 0, 0, 0, 0x4b, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t plt_func_1[] = {
    0x78, 0xee, 0xff, 0xff, 0x20, 0, 0, 0, 0x51, 0, 0, 0, 2, 0, 0, 0, 0x10, 0x10, 0, 0};
static const uint8_t plt_rows_0[] = {0x00, 0x03, 0x10, 0x06, 0x03, 0x18};
static const uint8_t plt_rows_1[] = {0x00, 0x03, 0x08, 0x0b, 0x03, 0x10};

/* The first two functions of an executable that GNU ld linked, its .sframe at 0x2188. */
static struct sf_section plt_model(void)
{
	struct sf_section section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);

	fixture_func(&section, 0x1020, 16);
	fixture_row(&section, fixture_cfa(0, AMD64_SP, 16));
	fixture_row(&section, fixture_cfa(6, AMD64_SP, 24));
	fixture_func(&section, 0x1030, 32);
	section.funcs[1].pcmask = true;
	section.funcs[1].rep_size = 16;
	fixture_row(&section, fixture_cfa(0, AMD64_SP, 8));
	fixture_row(&section, fixture_cfa(11, AMD64_SP, 16));
	return section;
}

UNIT(worked_bytes_read)
{
	struct sf_section model = plt_model();
	struct sf_view view;
	struct wr wr;

	wr_init(&wr, false);
	wr_bytes(&wr, plt_header, sizeof(plt_header));
	wr_bytes(&wr, plt_func_0, sizeof(plt_func_0));
	wr_bytes(&wr, plt_func_1, sizeof(plt_func_1));
	wr_zeros(&wr, 6 * 20 + 0x4b);
	wr_bytes(&wr, plt_rows_0, sizeof(plt_rows_0));
	wr_bytes(&wr, plt_rows_1, sizeof(plt_rows_1));
	wr_zeros(&wr, 3);
	view = fixture_open(&wr, 0x2188);
	ck_assert_uint_eq(view.version, 2);
	ck_assert_uint_eq(view.flags, 5);
	ck_assert_uint_eq(view.abi, 3);
	ck_assert_int_eq(view.fixed_ra_off, -8);
	ck_assert_uint_eq(view.n_funcs, 8);
	ck_assert_uint_eq(view.n_rows, 26);
	ck_assert_uint_eq(view.row_len, 0x5a);
	ck_assert_uint_eq(view.row_off, 28 + 0xa0);
	view.n_funcs = 2;
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

UNIT(worked_bytes_written)
{
	struct sf_section model = plt_model();
	struct wr wr = fixture_encode(&model, true, false, 0x2188);

	ck_assert_uint_eq(wr.size, 28 + 2 * 20 + 12);
	ck_assert_mem_eq(wr.data, plt_header, 8);
	ck_assert_mem_eq(wr.data + 8, "\2\0\0\0\4\0\0\0\14\0\0\0\0\0\0\0\50\0\0\0", 20);
	/* As GNU ld wrote them, except for the places of the rows. */
	ck_assert_mem_eq(wr.data + 28, plt_func_0, 8);
	ck_assert_mem_eq(wr.data + 36, "\0\0\0\0", 4);
	ck_assert_mem_eq(wr.data + 40, plt_func_0 + 12, 8);
	ck_assert_mem_eq(wr.data + 48, plt_func_1, 8);
	ck_assert_mem_eq(wr.data + 56, "\6\0\0\0", 4);
	ck_assert_mem_eq(wr.data + 60, plt_func_1 + 12, 8);
	ck_assert_mem_eq(wr.data + 68, plt_rows_0, sizeof(plt_rows_0));
	ck_assert_mem_eq(wr.data + 74, plt_rows_1, sizeof(plt_rows_1));
	wr_deinit(&wr);

	wr = fixture_encode(&model, false, false, 0x2188);
	ck_assert_uint_eq(wr.data[SFRAME_HDR_FLAGS], SFRAME_F_FDE_SORTED);
	ck_assert_mem_eq(wr.data + 28, "\x98\xee\xff\xff", 4); /* 0x1020 - 0x2188 */
	ck_assert_mem_eq(wr.data + 48, "\xa8\xee\xff\xff", 4); /* 0x1030 - 0x2188 */
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

static void expect_rows(const struct sf_section *model, const void *want, size_t len)
{
	struct wr wr = fixture_encode(model, true, false, 0x100000);
	size_t off = 28 + 20 * model->n_funcs;

	ck_assert_uint_eq(wr.size - off, len);
	ck_assert_mem_eq(wr.data + off, want, len);
	wr_deinit(&wr);
}

/*
 * Each row has its own word size. The size of the start field depends on the function's
 * last row.
 */
UNIT(row_widths)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_row row = fixture_cfa(1, AMD64_SP, 16);

	fixture_func(&model, 0x1000, 0x20000);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 127));
	row.fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
	row.fp_off = -16;
	fixture_row(&model, row);
	expect_rows(&model, "\0\3\177\1\5\x10\xf0", 7);
	fixture_row(&model, fixture_cfa(255, AMD64_FP, 128));
	expect_rows(&model, "\0\3\177\1\5\x10\xf0\xff\x22\x80\0", 11);
	fixture_row(&model, fixture_cfa(256, AMD64_FP, -32769));
	expect_rows(&model,
	    "\0\0\3\177\1\0\5\x10\xf0\xff\0\x22\x80\0\0\1\x42\xff\x7f\xff\xff", 21);
	fixture_row(&model, (struct sf_row){.start = 0x10000, .outermost = 1});
	expect_rows(&model,
	    "\0\0\0\0\3\177\1\0\0\0\5\x10\xf0\xff\0\0\0\x22\x80\0"
	    "\0\1\0\0\x42\xff\x7f\xff\xff\0\0\1\0\0",
	    34);
	sf_section_deinit(&model);
}

/* The last and first values of each word size. */
UNIT(word_limits)
{
	static const struct {
		int32_t off;
		const char *want;
		size_t len;
	} cases[] = {
	    {-128, "\0\3\x80", 3},
	    {-129, "\0\x23\x7f\xff", 4},
	    {127, "\0\3\x7f", 3},
	    {128, "\0\x23\x80\0", 4},
	    {-32768, "\0\x23\0\x80", 4},
	    {-32769, "\0\x43\xff\x7f\xff\xff", 6},
	    {32767, "\0\x23\xff\x7f", 4},
	    {32768, "\0\x43\0\x80\0\0", 6},
	    {INT32_MIN, "\0\x43\0\0\0\x80", 6},
	    {INT32_MAX, "\0\x43\xff\xff\xff\x7f", 6},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);

		fixture_func(&model, 0x1000, 64);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, cases[i].off));
		expect_rows(&model, cases[i].want, cases[i].len);
		sf_section_deinit(&model);
	}
}

/* Tracked RA comes before FP. Big endian affects words, starts and counts alike. */
UNIT(aarch64_words)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AARCH64_ENDIAN_BIG);
	struct sf_row row = fixture_cfa(4, AARCH64_FP, 512);
	struct wr wr;
	struct sf_view view;

	fixture_func(&model, 0x1000, 64);
	model.funcs[0].pauth_b = true;
	fixture_row(&model, fixture_cfa(0, AARCH64_SP, 0));
	row.ra = row.fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
	row.ra_off = -8;
	row.fp_off = -16;
	row.ra_signed = 1;
	fixture_row(&model, row);
	expect_rows(&model, "\0\3\0\4\xa6\2\0\xff\xf8\xff\xf0", 11);
	wr = fixture_encode(&model, true, false, 0x2000);
	ck_assert_mem_eq(wr.data, "\xde\xe2\2\5\1\0\0\0\0\0\0\1\0\0\0\2\0\0\0\13", 20);
	ck_assert_mem_eq(
	    wr.data + 28, "\xff\xff\xef\xe4\0\0\0\x40\0\0\0\0\0\0\0\2\x20", 17);
	view = fixture_open(&wr, 0x2000);
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/*
 * Version 1, with an auxiliary header, gaps before both sub-sections and padding after
 * the last.
 */
UNIT(version_1_read)
{
	static const uint8_t bytes[] = {0xe2, 0xde, 1, 1, 3, 0, 0xf8, 3, 1, 0, 0, 0, 1, 0,
	    0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 20, 0, 0, 0, 9, 9, 9, 9, 9, 0, 0xf0, 0xff, 0xff,
	    5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x00, 9, 0, 5, 16, 0xf0, 0, 0, 0, 0};
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_row row = fixture_cfa(0, AMD64_SP, 16);
	struct err err = {0};
	uint8_t changed[sizeof(bytes)];
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct sf_view view;

	row.fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
	row.fp_off = -16;
	fixture_func(&model, 0x2000, 5);
	fixture_row(&model, row);
	ck_assert_msg(
	    sf_view_open(bytes, sizeof(bytes), 0x3000, &view, &err), "%s", err.text);
	ck_assert_uint_eq(view.func_size, 17);
	fixture_expect(&view, &model, 0);
	sf_section_deinit(&model);

	/* A row without words cannot be read: version 1 has no outermost frames. */
	memcpy(changed, bytes, sizeof(bytes));
	changed[sizeof(changed) - 7] = 0;
	ck_assert(sf_view_open(changed, sizeof(changed), 0x3000, &view, &err));
	ck_assert(sf_view_func(&view, 0, &func, &err));
	sf_rows_begin(&view, &func, &iter);
	ck_assert(!sf_rows_next(&iter, &row, &err));
	ck_assert(iter.failed);
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
}

/* s390x: the CFA word counts doublewords, and words with bit 0 set are registers. */
UNIT(s390x_read)
{
	static const uint8_t rows[] = {0, 3, 0, 2, 7, 20, 0, 0xb0, 4, 7, 20, 29, 33};
	struct sf_section model = fixture_section(SFRAME_ABI_S390X_ENDIAN_BIG);
	struct sf_row row = fixture_cfa(2, 15, 320);
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, 0x1000, 16);
	fixture_row(&model, fixture_cfa(0, 15, 160));
	row.fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
	row.fp_off = -80;
	fixture_row(&model, row);
	row.start = 4;
	row.ra = (struct sf_loc){.kind = SF_LOC_REG, .reg = 14};
	row.fp = (struct sf_loc){.kind = SF_LOC_REG, .reg = 16};
	row.fp_off = 0;
	fixture_row(&model, row);
	wr_init(&wr, true);
	wr_bytes(
	    &wr, "\xde\xe2\2\1\4\0\0\0\0\0\0\1\0\0\0\3\0\0\0\15\0\0\0\0\0\0\0\24", 28);
	wr_bytes(&wr, "\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\3\0\0\0\0", 20);
	wr_bytes(&wr, rows, sizeof(rows));
	view = fixture_open(&wr, 0x1000);
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* Rows are equal when they say the same, wherever they start. */
UNIT(row_same)
{
	const struct sf_row a = fixture_cfa(0, AMD64_SP, 8);
	struct sf_row others[8];

	for (size_t i = 0; i < 8; i++)
		others[i] = a;
	others[0].cfa_off++;
	others[1].ra_off++;
	others[2].fp_off++;
	others[3].cfa.reg = AMD64_FP;
	others[4].ra.kind = SF_LOC_AT_CFA;
	others[5].fp.kind = SF_LOC_AT_CFA;
	others[6].ra_signed = 1;
	others[7].outermost = 1;
	for (size_t i = 0; i < 8; i++)
		ck_assert_msg(!sf_row_same(&a, &others[i]), "%zu", i);
	others[0] = a;
	others[0].start = 5;
	ck_assert(sf_row_same(&a, &others[0]));
}

static enum err_kind encode_kind(
    const struct sf_section *model, uint8_t version, const char *says)
{
	struct sf_encode_options options = {.version = version, .pcrel = true};

	return fixture_refused(model, &options, says);
}

UNIT(sections_refused)
{
	struct sf_section model = plt_model();
	size_t n_funcs = model.n_funcs;

	ck_assert_int_eq(encode_kind(&model, 1, "version 1 has no"), ERR_UNSUPPORTED);
	ck_assert_int_eq(encode_kind(&model, 4, "version 4 cannot"), ERR_UNSUPPORTED);
	/* The bound is checked before the functions, because there are fewer of them. */
	model.n_funcs = UINT32_MAX / 20 + 1;
	ck_assert_int_eq(encode_kind(&model, 2, "functions"), ERR_LIMIT);
	model.n_funcs = n_funcs;
	model.abi = 9;
	ck_assert_int_eq(encode_kind(&model, 2, "ABI 9"), ERR_UNSUPPORTED);
	sf_section_deinit(&model);
}

/* Breaks each duty of the caller once. */
UNIT(broken_models)
{
	struct sf_section model = plt_model();
	const struct sf_func f0 = model.funcs[0], f1 = model.funcs[1];
	const struct sf_row r1 = model.rows[1];

	model.funcs[0].size = 17;
	ck_assert_int_eq(encode_kind(&model, 2, "next function"), ERR_INTERNAL);
	model.funcs[0].size = 0;
	ck_assert_int_eq(encode_kind(&model, 2, "no size"), ERR_INTERNAL);
	model.funcs[0] = f0;
	model.funcs[1].start = UINT64_MAX - 30;
	ck_assert_int_eq(encode_kind(&model, 2, "wraps"), ERR_INTERNAL);
	model.funcs[1] = f1;
	model.funcs[1].rep_size = 11;
	ck_assert_int_eq(encode_kind(&model, 2, "past its end"), ERR_INTERNAL);
	model.funcs[1].rep_size = 0;
	ck_assert_int_eq(encode_kind(&model, 2, "PCMASK"), ERR_INTERNAL);
	model.funcs[1] = f1;
	model.funcs[0].pauth_b = true;
	ck_assert_int_eq(encode_kind(&model, 2, "signing"), ERR_INTERNAL);
	model.funcs[0] = f0;
	model.fixed_ra_off = -16;
	ck_assert_int_eq(encode_kind(&model, 2, "not the ABI's"), ERR_INTERNAL);
	model.fixed_ra_off = -8;
	model.fixed_fp_off = -16;
	ck_assert_int_eq(encode_kind(&model, 2, "not the ABI's"), ERR_INTERNAL);
	model.fixed_fp_off = 0;
	model.funcs[0].n_rows = 0;
	ck_assert_int_eq(encode_kind(&model, 2, "no rows"), ERR_INTERNAL);
	model.funcs[0].n_rows = 5;
	ck_assert_int_eq(encode_kind(&model, 2, "no rows"), ERR_INTERNAL);
	model.funcs[0] = f0;
	model.rows[1].start = 0;
	ck_assert_int_eq(encode_kind(&model, 2, "ascend"), ERR_INTERNAL);
	model.rows[1].start = 16;
	ck_assert_int_eq(encode_kind(&model, 2, "past its end"), ERR_INTERNAL);
	model.rows[1] = r1;
	model.rows[0].start = 1;
	ck_assert_int_eq(encode_kind(&model, 2, "first row"), ERR_INTERNAL);
	sf_section_deinit(&model);
}

/*
 * The field of function 0 is at addr + 28. Exactly 2 GiB before it is the last place that
 * it can reach.
 */
UNIT(reach)
{
	struct sf_encode_options options = {.version = 2, .pcrel = true};
	struct sf_section model = plt_model();
	struct err err = {0};
	uint64_t last = 0x1020 + (UINT64_C(1) << 31) - 28;
	struct wr wr;

	wr_init(&wr, false);
	ck_assert(sf_encode(&model, &options, &wr, NULL, &err));
	ck_assert(sf_place(&model, &options, last - 4, &wr, &err));
	ck_assert(!sf_place(&model, &options, last + 1, &wr, &err));
	ck_assert_int_eq(err.kind, ERR_LIMIT);
	ck_assert(strstr(err.text, "0x1020") && strstr(err.text, "0x80001005"));
	options.pcrel = false;
	ck_assert(sf_place(&model, &options, last + 28, &wr, &err));
	ck_assert(!sf_place(&model, &options, last + 29, &wr, &err));
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
