/* SPDX-License-Identifier: MIT */
/* Flexible functions of version 3: their words, and what the reader refuses. */
#include "sframe/check.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum {
	ADDR = 0x20f4,
	AMD64 = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
	INDEX = SFRAME_HDR_SIZE,
	ATTR_1 = INDEX + SFRAME_V3_FDE_SIZE, /* of the only function */
	ROWS_1 = ATTR_1 + SFRAME_V3_ATTR_SIZE,
};

/* These rows follow one that makes the function flexible, and the reverse. */
static void expect_row(struct sf_row row, const char *want, size_t len)
{
	struct sf_section model = fixture_section(AMD64);
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	fixture_row(&model, fixture_cfa(0, 10, 0));
	row.start = 1;
	fixture_row(&model, row);
	wr = fixture_encode_as(3, &model, true, false, ADDR);
	ck_assert_uint_eq(wr.size, ROWS_1 + 4 + 1 + len);
	ck_assert_mem_eq(wr.data + ATTR_1, "\2\0\0\1\0\0\4\x51\0\1", 10);
	ck_assert_mem_eq(wr.data + ROWS_1 + 5, want, len);
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &model, 0);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* Pairs are in the order CFA, RA, FP. A missing RA before an FP is a single 0. */
UNIT(flex_words)
{
	const struct sf_row sp = fixture_cfa(0, AMD64_SP, 16);
	struct sf_row row = fixture_with_ra(sp, SF_LOC_AT_CFA, 0, -24);

	expect_row(sp, "\x04\x39\x10", 3);
	expect_row(row, "\x08\x39\x10\2\xe8", 5);
	expect_row(
	    fixture_with_fp(row, SF_LOC_AT_CFA, 0, -16), "\x0c\x39\x10\2\xe8\2\xf0", 7);
	expect_row(fixture_with_fp(sp, SF_LOC_AT_CFA, 0, -16), "\x0a\x39\x10\0\2\xf0", 6);
	expect_row(fixture_with_ra(sp, SF_LOC_REG, 3, 0), "\x08\x39\x10\x19\0", 5);
	expect_row(fixture_with_ra(sp, SF_LOC_AT_REG, 3, 8), "\x08\x39\x10\x1b\x08", 5);
	expect_row(fixture_with_fp(sp, SF_LOC_REG, 12, 0), "\x0a\x39\x10\0\x61\0", 6);
	expect_row(fixture_at_reg(0, 31, 0), "\x04\xfb\0", 3);
	expect_row((struct sf_row){.outermost = true}, "\0", 1);
}

/* Control words are unsigned, so they never make words wider; offsets do. */
UNIT(flex_widths)
{
	struct sf_row row = fixture_at_reg(0, 31, 127);

	expect_row(row, "\x04\xfb\x7f", 3);
	row.cfa_off = 128;
	expect_row(row, "\x24\xfb\0\x80\0", 5);
	row.cfa_off = -128;
	row = fixture_with_fp(row, SF_LOC_AT_CFA, 0, -32769);
	expect_row(
	    row, "\x4a\xfb\0\0\0\x80\xff\xff\xff\0\0\0\0\2\0\0\0\xff\x7f\xff\xff", 21);
}

/* A value at its fixed place needs neither words nor a flexible function. */
UNIT(fixed_ra_said)
{
	struct sf_section model = fixture_section(AMD64);
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	fixture_row(
	    &model, fixture_with_ra(fixture_cfa(0, AMD64_SP, 8), SF_LOC_AT_CFA, 0, -8));
	for (uint8_t version = 1; version <= 3; version++) {
		wr = fixture_encode_as(version, &model, version > 1, false, ADDR);
		ck_assert_mem_eq(wr.data + wr.size - 3, "\0\3\x08", 3);
		wr_deinit(&wr);
	}
	sf_section_deinit(&model);
}

struct damage {
	size_t off;
	uint8_t v;
	const char *says;
};

/* A flexible function has the one row 00 0c: 57 8, 25 2, 51 -8. */
static const struct damage damages[] = {
    {INDEX + SFRAME_V3_FDE_FUNC_START_FRE_OFF, 0xff, "attribute at row offset 0xff"},
    {INDEX + SFRAME_V3_FDE_FUNC_START_FRE_OFF, 9, "attribute at row offset 0x9"},
    {ATTR_1 + SFRAME_V3_ATTR_FUNC_NUM_FRES, 5, "cannot fit"},
    {ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO, 0x40, "info byte 0x40"},
    {ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO, 3, "row type 3 does not exist"},
    {ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO2, 2, "has a function type that"},
    {ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO2, 0x21, "has a function type that"},
    {ATTR_1 + SFRAME_V3_ATTR_FUNC_INFO2, 0, "too many words"},
    {ROWS_1 + 1, 0x02, "mean nothing"}, {ROWS_1 + 1, 0x06, "mean nothing"},
    {ROWS_1 + 1, 0x0a, "mean nothing"}, {ROWS_1 + 1, 0x0e, "too many words"},
    {ROWS_1 + 1, 0x6c, "no size"}, {ROWS_1 + 1, 0x2c, "passes the end"},
    {ROWS_1 + 2, 56, "mean nothing"},	  /* the CFA from the CFA */
    {ROWS_1 + 2, 0, "mean nothing"},	  /* no CFA */
    {ROWS_1 + 2, 2, "mean nothing"},	  /* *(CFA + 8) */
    {ROWS_1 + 2, 57 | 4, "mean nothing"}, /* the bit that must be 0 */
    {ROWS_1 + 4, 0, "mean nothing"},	  /* no RA, and then too much */
    {ROWS_1 + 4, 24, "mean nothing"},	  /* RA is the CFA itself */
    {ROWS_1 + 4, 26, "mean nothing"},	  /* a register that is not looked at */
    {ROWS_1 + 6, 0, "mean nothing"},	  /* an FP pair that says no FP */
};

static struct wr flex_section(void)
{
	struct sf_section model = fixture_section(AMD64);
	struct sf_row row =
	    fixture_with_ra(fixture_cfa(0, AMD64_SP, 8), SF_LOC_REG, 3, 2);
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	fixture_row(&model, fixture_with_fp(row, SF_LOC_AT_REG, AMD64_FP, -8));
	wr = fixture_encode_as(3, &model, true, false, ADDR);
	ck_assert_uint_eq(wr.size, ROWS_1 + 8);
	sf_section_deinit(&model);
	return wr;
}

static void expect_damage(const struct wr *wr, const char *says)
{
	struct sf_view view = fixture_open(wr, ADDR);
	struct err err = {0};

	ck_assert_msg(!sf_check_all(&view, &err), "passed, want: %s", says);
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_msg(strstr(err.text, says), "\"%s\" not in: %s", says, err.text);
}

UNIT_EACH(damage_refused, damages)
{
	const struct damage *damage = &damages[_i];
	struct wr wr = flex_section();

	wr.data[damage->off] = damage->v;
	expect_damage(&wr, damage->says);
	wr_deinit(&wr);
}

/*
 * In wider words a control word can name registers that we never write: those of APX, and
 * what GNU as makes of -1. They are read, so that all other functions can be.
 */
UNIT(high_register)
{
	static const struct {
		uint8_t high, reg;
	} cases[] = {
	    {0, 10}, {1, 42}, {4, 138}, {7, 234}, {8, SF_REG_NONE}, {0xff, SF_REG_NONE}};
	struct sf_section model = fixture_section(AMD64);
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct err err = {0};
	struct sf_view view;
	struct sf_row row;
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	fixture_row(&model, fixture_cfa(0, 10, 1000));
	wr = fixture_encode_as(3, &model, true, false, ADDR);
	ck_assert_mem_eq(wr.data + ROWS_1, "\0\x24\x51\0\xe8\3", 6);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wr.data[ROWS_1 + 3] = cases[i].high;
		view = fixture_open(&wr, ADDR);
		ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
		ck_assert(sf_view_func(&view, 0, &func, &err));
		sf_rows_begin(&view, &func, &iter);
		ck_assert(sf_rows_next(&iter, &row, &err));
		ck_assert_uint_eq(row.cfa.reg, cases[i].reg);
		ck_assert_int_eq(row.cfa_off, 1000);
	}
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
