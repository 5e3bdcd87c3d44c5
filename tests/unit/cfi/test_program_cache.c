/* SPDX-License-Identifier: MIT */
/* Which FDEs have the same instructions, and which tables hold at another address. */
#include "cfi/program_cache.h"
#include "tests/unit/cfi/test_cfi_build.h"
#include "tests/unit/unit.h"

static struct wr wr;
static struct cfi_frames frames;
static struct cfi_program_cache same;

static void read_frames(void)
{
	struct cfi_section section = build_section(&wr);
	struct err err = {0};

	ck_assert_msg(cfi_frames_read(&section, &frames, &err), "%s", err.text);
	cfi_program_cache_init(&same, &frames, 0);
}

static void tidy(void)
{
	cfi_program_cache_deinit(&same);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

static size_t number(size_t fde)
{
	size_t ret;

	ck_assert(cfi_program_cache_find(&same, &frames.fdes[fde], &ret));
	return ret;
}

/* Programs are equal when they have the same bytes and CIE, whatever their range. */
UNIT(same_program)
{
	static const uint8_t one[] = {0x41, 0x0e, 16, 0}, other[] = {0x41, 0x0e, 24, 0},
			     longer[] = {0x41, 0x0e, 16, 0, 0, 0, 0, 0};
	size_t cie, twin;

	wr_init(&wr, false);
	cie = build_cie(&wr);
	twin = build_cie(&wr);
	build_fde(&wr, cie, 64, one, sizeof(one));
	build_fde(&wr, cie, 8, one, sizeof(one));
	build_fde(&wr, cie, 64, other, sizeof(other));
	build_fde(&wr, cie, 64, longer, sizeof(longer));
	build_fde(&wr, twin, 64, one, sizeof(one));
	read_frames();
	ck_assert_uint_eq(frames.n_fdes, 5);
	for (uint32_t i = 0; i < 5; i++)
		ck_assert_uint_eq(number(i), i ? i - 1 : 0);
	ck_assert_uint_eq(number(0), 0);
	ck_assert_uint_eq(number(4), 3);
	tidy();
}

/* The table has less room at first than there are programs. */
UNIT(many_programs)
{
	enum { N = 5000 };
	size_t cie;

	wr_init(&wr, false);
	cie = build_cie(&wr);
	for (uint32_t i = 0; i < 2 * N; i++) {
		uint8_t program[] = {
		    0x0e, (uint8_t)(i % N & 0x7f) | 0x80, (uint8_t)(i % N >> 7)};

		build_fde(&wr, cie, 64, program, sizeof(program));
	}
	read_frames();
	ck_assert_uint_eq(frames.n_fdes, 2 * N);
	for (uint32_t i = 0; i < 2 * N; i++)
		ck_assert_uint_eq(number(i), i % N);
	tidy();
}

static const struct movable {
	uint32_t range;
	uint8_t len, program[24];
	bool movable;
	uint64_t reach;
} cases[] = {
    {64, 1, {0}, true, 0},
    {64, 5, {0x41, 0x0e, 16, 0x44, 0x0a}, true, 5},
    /* The end is the last location, or before it. */
    {5, 5, {0x41, 0x0e, 16, 0x44, 0x0a}, false, 5},
    {3, 5, {0x41, 0x0e, 16, 0x44, 0x0a}, false, 5},
    {6, 5, {0x41, 0x0e, 16, 0x44, 0x0a}, true, 5},
    /* DW_CFA_set_loc moves forward by nothing. It is pcrel here, but names a place. */
    {64, 8, {0x0e, 16, 0x01, 0, 0, 0, 0, 0x0a}, false, 0},
    /* DW_CFA_def_cfa_expression: breg7 + 8, and a use of the PC. */
    {64, 4, {0x0f, 2, 0x77, 8}, false, 0},
    {64, 4, {0x0f, 2, 0x80, 0}, false, 0},
};

UNIT_EACH(movable, cases)
{
	const struct movable *t = &cases[_i];
	uint8_t program[sizeof(t->program)];
	struct cfi_interp interp;
	struct err err = {0};
	size_t cie;

	wr_init(&wr, false);
	cie = build_cie(&wr);
	memcpy(program, t->program, sizeof(program));
	if (program[2] == 0x01) {
		/*
		 * The place of the operand, after length, CIE pointer, range and so on.
		 */
		uint32_t at = (uint32_t)wr.size + 17 + 3;
		uint32_t off = (uint32_t)(BUILD_CODE - (BUILD_ADDR + at));

		memcpy(program + 3, &off, sizeof(off));
	}
	build_fde(&wr, cie, t->range, program, t->len);
	read_frames();
	cfi_interp_init(&interp, &frames, &build_machine);
	ck_assert_msg(cfi_interpret(&interp, &frames.fdes[0], &err), "%s", err.text);
	ck_assert_int_eq(interp.table.movable, t->movable);
	if (t->movable)
		ck_assert_uint_eq(interp.table.reach, t->reach);
	cfi_interp_deinit(&interp);
	tidy();
}
