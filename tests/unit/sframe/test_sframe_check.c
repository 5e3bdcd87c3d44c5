/* SPDX-License-Identifier: MIT */
/* A section breaks each named check in exactly one way. */
#include <stdio.h>
#include <string.h>

#include "sframe/check.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum {
	ADDR = 0x2000,
	ABI = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
	FUNC_0 = SFRAME_HDR_SIZE,
	FUNC_1 = FUNC_0 + SFRAME_V2_FDE_SIZE,
	ROWS = FUNC_1 + SFRAME_V2_FDE_SIZE,
	ROW_SIZE = 3, /* start, info, one word */
};

/* How the message of each check begins. */
static const char *const texts[] = {
#define TEXT(id, name, text) [SF_CHECK_##id] = name ": " text,
    SF_CHECKS(TEXT)
#undef TEXT
};

/* Two functions of 64 bytes with two rows each, side by side. */
static struct wr sound_section(void)
{
	struct sf_section model = fixture_section(ABI);
	struct wr wr;

	for (uint32_t i = 0; i < 2; i++) {
		fixture_func(&model, 0x1000 + 64 * i, 64);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(&model, fixture_cfa(4, AMD64_SP, 16));
	}
	wr = fixture_encode(&model, false, false, ADDR);
	sf_section_deinit(&model);
	return wr;
}

static void set_u8(struct wr *wr, size_t off, uint32_t v)
{
	wr->data[off] = v & UINT8_MAX;
}

struct breach {
	enum sf_check check;
	uint32_t v; /* what the field becomes */
	void (*set)(struct wr *wr, size_t off, uint32_t v);
	size_t off;   /* of the field, from the section's start */
	size_t where; /* what the message must say */
};

static const struct breach breaches[] = {
    {SF_CHECK_FLAGS, 0x9, set_u8, SFRAME_HDR_FLAGS, SFRAME_HDR_FLAGS},
    {SF_CHECK_ABI, 5, set_u8, SFRAME_HDR_ABI_ARCH, SFRAME_HDR_ABI_ARCH},
    {SF_CHECK_FUNC_READABLE, 3, set_u8, FUNC_1 + SFRAME_FDE_FUNC_INFO, FUNC_1},
    {SF_CHECK_FUNC_SORTED, 0u - ADDR, wr_patch_u32, FUNC_1, FUNC_1},
    {SF_CHECK_FUNC_OVERLAP, 65, wr_patch_u32, FUNC_0 + SFRAME_FDE_FUNC_SIZE, FUNC_1},
    {SF_CHECK_FUNC_OVERLAP, 0x1000u - ADDR, wr_patch_u32, FUNC_1, FUNC_1},
    {SF_CHECK_FUNC_SIZE, 0u - ADDR - 63, wr_patch_u32, FUNC_1, FUNC_1},
    {SF_CHECK_REP_SIZE, 0x10, set_u8, FUNC_0 + SFRAME_FDE_FUNC_INFO, FUNC_0},
    {SF_CHECK_ROWS_READABLE, 0x63, set_u8, ROWS + ROW_SIZE + 1, ROWS + ROW_SIZE},
    {SF_CHECK_ROWS_SOME, 0, wr_patch_u32, FUNC_0 + SFRAME_FDE_FUNC_NUM_FRES, FUNC_0},
    {SF_CHECK_ROWS_ASCENDING, 0, set_u8, ROWS + ROW_SIZE, ROWS + ROW_SIZE},
    {SF_CHECK_ROWS_INSIDE, 65, set_u8, ROWS + 3 * ROW_SIZE, ROWS + 3 * ROW_SIZE},
    {SF_CHECK_ROWS_TOTAL, 5, wr_patch_u32, SFRAME_HDR_NUM_FRES, SFRAME_HDR_NUM_FRES},
};

enum { N_BREACHES = sizeof(breaches) / sizeof(*breaches) };

static void expect(const struct wr *wr, enum sf_check check, size_t where)
{
	char words[256];
	struct err err = {0};
	struct sf_view view = fixture_open(wr, ADDR);

	snprintf(words, sizeof(words), "%s, at .sframe+0x%zx", texts[check], where);
	ck_assert_msg(!sf_check_all(&view, &err), "%s", texts[check]);
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_msg(
	    strncmp(err.text, words, strlen(words)) == 0, "%s, not %s", err.text, words);
}

UNIT(sound)
{
	struct wr wr = sound_section();
	struct sf_view view = fixture_open(&wr, ADDR);
	struct err err = {0};

	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr_deinit(&wr);
}

UNIT_LOOP(each_breach, 0, N_BREACHES)
{
	const struct breach *breach = &breaches[_i];
	struct wr wr = sound_section();

	breach->set(&wr, breach->off, breach->v);
	expect(&wr, breach->check, breach->where);
	wr_deinit(&wr);
}

UNIT(every_check_has_a_breach)
{
	for (unsigned int check = 0; check < SF_N_CHECKS; check++) {
		bool found = false;

		for (size_t i = 0; i < N_BREACHES; i++)
			found |= breaches[i].check == check;
		ck_assert_msg(found, "%s", texts[check]);
	}
}

/* Rows that are right for one function may be past the end of another one. */
UNIT(shared_rows)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_view view;
	struct err err = {0};
	struct wr wr;

	for (uint64_t i = 0; i < 3; i++) {
		fixture_func(&model, 0x1000 + 64 * i, 64);
		for (uint32_t j = 0; j < 3; j++)
			fixture_row(
			    &model, fixture_cfa(20 * j, AMD64_SP, 8 + 8 * (int32_t)j));
	}
	wr = fixture_encode(&model, false, true, ADDR);
	sf_section_deinit(&model);
	view = fixture_open(&wr, ADDR);
	ck_assert_uint_eq(view.row_len, 3 * ROW_SIZE);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	for (uint32_t i = 0; i < 3; i++) {
		size_t size = FUNC_0 + i * SFRAME_V2_FDE_SIZE + SFRAME_FDE_FUNC_SIZE;

		wr_patch_u32(&wr, size, 40);
		ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
		wr_patch_u32(&wr, size, 39);
		expect(&wr, SF_CHECK_ROWS_INSIDE, view.row_off + 2 * ROW_SIZE);
		wr_patch_u32(&wr, size, 64);
	}
	wr_deinit(&wr);
}

/* Without SORTED any order is right. Overlaps are still found. */
UNIT(unsorted)
{
	struct wr wr = sound_section();
	struct sf_view view;
	struct err err = {0};

	set_u8(&wr, SFRAME_HDR_FLAGS, 0);
	wr_patch_u32(&wr, FUNC_1, 0x800u - ADDR);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr_patch_u32(&wr, FUNC_1 + SFRAME_FDE_FUNC_SIZE, 0x801);
	expect(&wr, SF_CHECK_FUNC_OVERLAP, FUNC_0);
	wr_deinit(&wr);
}

/* A row of a PCMASK function must be inside the block. */
UNIT(pcmask_rows_inside)
{
	struct wr wr = sound_section();
	struct sf_view view;
	struct err err = {0};

	set_u8(&wr, FUNC_0 + SFRAME_FDE_FUNC_INFO, SFRAME_FUNC_INFO_PCMASK);
	set_u8(&wr, FUNC_0 + SFRAME_FDE_FUNC_REP_SIZE, 5);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	set_u8(&wr, FUNC_0 + SFRAME_FDE_FUNC_REP_SIZE, 4);
	expect(&wr, SF_CHECK_ROWS_INSIDE, ROWS + ROW_SIZE);
	wr_deinit(&wr);
}

/* No reader repeats the rows of another function, so its block size says nothing. */
UNIT(block_size_unused)
{
	struct wr wr = sound_section();
	struct sf_view_func func;
	struct sf_view view;
	struct err err = {0};

	/* A row is at 4. */
	set_u8(&wr, FUNC_0 + SFRAME_FDE_FUNC_REP_SIZE, 4);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	ck_assert(sf_view_func(&view, 0, &func, &err));
	ck_assert_uint_eq(func.func.rep_size, 0);
	wr_deinit(&wr);
}

/* PCREL and s390x, which version 1 does not have. */
UNIT(version_1)
{
	struct wr wr = sound_section();
	struct sf_view view;
	struct err err = {0};

	/* There are no functions, so their size does not matter. */
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FDES, 0);
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FRES, 0);
	set_u8(&wr, SFRAME_HDR_VERSION, 1);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	set_u8(&wr, SFRAME_HDR_FLAGS, 5);
	expect(&wr, SF_CHECK_FLAGS, SFRAME_HDR_FLAGS);
	set_u8(&wr, SFRAME_HDR_FLAGS, 1);
	set_u8(&wr, SFRAME_HDR_ABI_ARCH, SFRAME_ABI_S390X_ENDIAN_BIG);
	expect(&wr, SF_CHECK_ABI, SFRAME_HDR_ABI_ARCH);
	wr_deinit(&wr);
}

/* Fields that version 3 no longer has, and the places of its parts. */
UNIT(version_3)
{
	enum { ATTR = SFRAME_HDR_SIZE + SFRAME_V3_FDE_SIZE };
	struct sf_section model = fixture_section(ABI);
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, 0x1000, 64);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	wr = fixture_encode_as(3, &model, true, true, ADDR);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	set_u8(&wr, SFRAME_HDR_FLAGS, 5 | SFRAME_F_FRAME_POINTER);
	expect(&wr, SF_CHECK_FLAGS, SFRAME_HDR_FLAGS);
	set_u8(&wr, SFRAME_HDR_FLAGS, 5);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO2, 2);
	expect(&wr, SF_CHECK_FUNC_READABLE, SFRAME_HDR_SIZE);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO2, 0);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO, SFRAME_FUNC_INFO_PCMASK);
	expect(&wr, SF_CHECK_REP_SIZE, SFRAME_HDR_SIZE);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO, 0);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_SIZE + 1, 0x63);
	expect(&wr, SF_CHECK_ROWS_READABLE, ATTR + SFRAME_V3_ATTR_SIZE);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* GNU as writes functions of size 0 and rows at the end; they say nothing, and pass. */
UNIT(nothing_said)
{
	struct wr wr = sound_section();
	struct sf_view view;
	struct err err = {0};

	set_u8(&wr, ROWS + 3 * ROW_SIZE, 64);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr_patch_u32(&wr, FUNC_0 + SFRAME_FDE_FUNC_SIZE, 0);
	wr_patch_u32(&wr, FUNC_1, 0x1000u - ADDR);
	expect(&wr, SF_CHECK_ROWS_INSIDE, ROWS + ROW_SIZE);
	wr_patch_u32(&wr, FUNC_0 + SFRAME_FDE_FUNC_NUM_FRES, 1);
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FRES, 3);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	/* It also does not hide that it is out of order. */
	wr_patch_u32(&wr, FUNC_0, 0x1001u - ADDR);
	expect(&wr, SF_CHECK_FUNC_SORTED, FUNC_1);
	wr_deinit(&wr);
}

/* A function that wraps around has no row to judge, so only the cause is reported. */
UNIT(prerequisites)
{
	struct wr wr = sound_section();

	wr_patch_u32(&wr, FUNC_1, 0u - ADDR - 63);
	set_u8(&wr, ROWS + 3 * ROW_SIZE, 65);
	expect(&wr, SF_CHECK_FUNC_SIZE, FUNC_1);
	wr_deinit(&wr);
}
