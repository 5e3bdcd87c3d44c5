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

static const struct sf_words rules[] = {
#define RULE(id) [SF_CHECK_##id] = {SF_WORDS_##id}
    SF_CHECKS(RULE)
#undef RULE
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
    {SF_CHECK_VERSION, 5, set_u8, SFRAME_HDR_ABI_ARCH, SFRAME_HDR_ABI_ARCH},
    {SF_CHECK_READABLE, 3, set_u8, FUNC_1 + SFRAME_FDE_FUNC_INFO,
	FUNC_1 + SFRAME_FDE_FUNC_INFO},
    {SF_CHECK_FUNC_ORDER, 0u - ADDR, wr_patch_u32, FUNC_1, FUNC_1},
    {SF_CHECK_FUNC_OVERLAP, 65, wr_patch_u32, FUNC_0 + SFRAME_FDE_FUNC_SIZE, FUNC_1},
    {SF_CHECK_FUNC_OVERLAP, 0x1000u - ADDR, wr_patch_u32, FUNC_1, FUNC_1},
    {SF_CHECK_FUNC_END, 0u - ADDR - 64, wr_patch_u32, FUNC_1, FUNC_1},
    {SF_CHECK_BLOCK, 0x10, set_u8, FUNC_0 + SFRAME_FDE_FUNC_INFO, FUNC_0},
    {SF_CHECK_READABLE, 0x63, set_u8, ROWS + ROW_SIZE + 1, ROWS + ROW_SIZE},
    {SF_CHECK_FUNC_ROWS, 0, wr_patch_u32, FUNC_0 + SFRAME_FDE_FUNC_NUM_FRES, FUNC_0},
    {SF_CHECK_ROW_ORDER, 0, set_u8, ROWS + ROW_SIZE, ROWS + ROW_SIZE},
    {SF_CHECK_ROW_INSIDE, 65, set_u8, ROWS + 3 * ROW_SIZE, ROWS + 3 * ROW_SIZE},
    {SF_CHECK_COUNT, 5, wr_patch_u32, SFRAME_HDR_NUM_FRES, SFRAME_HDR_NUM_FRES},
};

enum { N_BREACHES = sizeof(breaches) / sizeof(*breaches) };

static void expect(const struct wr *wr, enum sf_check check, size_t where)
{
	char words[256];
	struct err err = {0};
	struct sf_view view = fixture_open(wr, ADDR);

	snprintf(words, sizeof(words), "%s (%s): broken at .sframe+0x%zx%s",
	    rules[check].name, rules[check].text, where,
	    check == SF_CHECK_READABLE ? ": " : "");
	ck_assert_msg(!sf_check_all(&view, &err), "%s passed", rules[check].name);
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_msg(
	    strncmp(err.text, words, strlen(words)) == 0, "%s, not %s", err.text, words);
	ck_assert(check == SF_CHECK_READABLE || !err.text[strlen(words)]);
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
		ck_assert_msg(found, "%s", rules[check].name);
	}
}

/* What follows from damage is not what is told, nor what the decoder says of later damage. */
UNIT(first_damage)
{
	struct wr wr = sound_section();
	struct sf_view view = fixture_open(&wr, ADDR);
	struct err err = {0};

	set_u8(&wr, ROWS + ROW_SIZE + 1, 0x63);
	set_u8(&wr, FUNC_1 + SFRAME_FDE_FUNC_INFO, 3);
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FRES, 5);
	expect(&wr, SF_CHECK_READABLE, ROWS + ROW_SIZE);
	ck_assert(!sf_check_all(&view, &err));
	ck_assert_msg(strstr(err.text, "the row's words have no size"), "%s", err.text);
	/* A size that wraps around makes neighbours overlap. */
	wr_deinit(&wr);
	wr = sound_section();
	wr_patch_u32(&wr, FUNC_1, 0u - ADDR - 63);
	wr_patch_u32(&wr, FUNC_0, 0u - ADDR - 80);
	expect(&wr, SF_CHECK_FUNC_END, FUNC_1);
	wr_deinit(&wr);
}

/* Expects where the bytes behind the first section begin, and how many sections there are. */
static void expect_behind(const struct wr *wr, size_t where, const char *says)
{
	struct sf_view view = fixture_open(wr, ADDR);
	struct err others = {0};

	ck_assert_uint_eq(sf_behind(&view, &others), where);
	ck_assert_int_eq(others.kind, says ? ERR_MALFORMED : ERR_NONE);
	ck_assert_msg(
	    !says || strstr(others.text, says), "\"%s\" not in: %s", says, others.text);
}

/* As linkers leave sections that they do not know. */
UNIT(several)
{
	static const char two[] = ".sframe+0x58: the second of 2 sections begins here, "
				  "and readers see the first one alone";
	struct wr wr = sound_section(), one = sound_section();
	size_t size = wr.size;

	expect_behind(&wr, size, NULL);
	wr_zeros(&wr, 0x58 - size);
	expect_behind(&wr, 0x58, NULL);
	wr_bytes(&wr, one.data, one.size);
	expect_behind(&wr, 0x58, two);
	/* What cannot be read is no section. */
	wr_bytes(&wr, one.data, SFRAME_HDR_SIZE - 1);
	expect_behind(&wr, 0x58, two);
	set_u8(&wr, 0x58, 1);
	expect_behind(&wr, 0x58, NULL);
	set_u8(&wr, 0x58, one.data[0]);
	wr_zeros(&wr, 1);
	expect_behind(&wr, 0x58, two);
	wr_patch_u32(&wr, wr.size - SFRAME_HDR_SIZE + SFRAME_HDR_NUM_FDES, 0);
	wr_patch_u32(&wr, wr.size - SFRAME_HDR_SIZE + SFRAME_HDR_FRE_LEN, 0);
	wr_patch_u32(&wr, wr.size - SFRAME_HDR_SIZE + SFRAME_HDR_NUM_FRES, 0);
	wr_patch_u32(&wr, wr.size - SFRAME_HDR_SIZE + SFRAME_HDR_FREOFF, 0);
	expect_behind(
	    &wr, 0x58, ".sframe+0x58: the second of 3 sections begins here, and ");
	wr_deinit(&one);
	wr_deinit(&wr);
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
		expect(&wr, SF_CHECK_ROW_INSIDE, view.row_off + 2 * ROW_SIZE);
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
	expect(&wr, SF_CHECK_ROW_INSIDE, ROWS + ROW_SIZE);
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
	expect(&wr, SF_CHECK_VERSION, SFRAME_HDR_ABI_ARCH);
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
	expect(&wr, SF_CHECK_READABLE, ATTR + SFRAME_V3_ATTR_FUNC_INFO2);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO2, 0);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO, SFRAME_FUNC_INFO_PCMASK);
	expect(&wr, SF_CHECK_BLOCK, SFRAME_HDR_SIZE);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_FUNC_INFO, 0);
	set_u8(&wr, ATTR + SFRAME_V3_ATTR_SIZE + 1, 0x63);
	expect(&wr, SF_CHECK_READABLE, ATTR + SFRAME_V3_ATTR_SIZE);
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
	expect(&wr, SF_CHECK_ROW_INSIDE, ROWS + ROW_SIZE);
	wr_patch_u32(&wr, FUNC_0 + SFRAME_FDE_FUNC_NUM_FRES, 1);
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FRES, 3);
	view = fixture_open(&wr, ADDR);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	/* It also does not hide that it is out of order. */
	wr_patch_u32(&wr, FUNC_0, 0x1001u - ADDR);
	expect(&wr, SF_CHECK_FUNC_ORDER, FUNC_1);
	wr_deinit(&wr);
}

/* A function that wraps around has no row to judge, so only the cause is reported. */
UNIT(prerequisites)
{
	struct wr wr = sound_section();

	wr_patch_u32(&wr, FUNC_1, 0u - ADDR - 63);
	set_u8(&wr, ROWS + 3 * ROW_SIZE, 65);
	expect(&wr, SF_CHECK_FUNC_END, FUNC_1);
	wr_deinit(&wr);
}
