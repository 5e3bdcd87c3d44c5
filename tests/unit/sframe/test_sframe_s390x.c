/* SPDX-License-Identifier: MIT */
/*
 * The words of s390x differ: the CFA counts doublewords beyond 160, and RA has a padding
 * word. Version 2 has registers in words where version 3 has flexible rows.
 */
#include "sframe/check.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum {
	ADDR = 0x1000,
	SP = 15,
	FP = 11,
	R14 = 14,
	F0 = 16,
	F2 = 17,
};

static struct sf_row saved(struct sf_row row, int32_t ra_off, int32_t fp_off)
{
	if (ra_off) {
		row.ra.kind = SF_LOC_AT_CFA;
		row.ra_off = ra_off;
	}
	if (fp_off) {
		row.fp.kind = SF_LOC_AT_CFA;
		row.fp_off = fp_off;
	}
	return row;
}

static struct sf_row in_regs(struct sf_row row, uint8_t ra, uint8_t fp)
{
	if (ra)
		row.ra = (struct sf_loc){.kind = SF_LOC_REG, .reg = ra};
	if (fp)
		row.fp = (struct sf_loc){.kind = SF_LOC_REG, .reg = fp};
	return row;
}

/*
 * Checks the bytes of a function's only row, and that they are read as they were written.
 */
static void expect_words(uint8_t version, struct sf_row row, const char *want, size_t len)
{
	struct sf_section model = fixture_section(SFRAME_ABI_S390X_ENDIAN_BIG);
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, 0x2000, 64);
	fixture_row(&model, row);
	wr = fixture_encode_as(version, &model, true, false, ADDR);
	ck_assert_uint_ge(wr.size, len);
	ck_assert_mem_eq(wr.data + wr.size - len, want, len);
	view = fixture_open(&wr, ADDR);
	fixture_expect(&view, &model, 0);
	ck_assert_msg(sf_check_all(&view, &err), "%s", err.text);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/*
 * Default rows without registers are the same in both versions, except for the attribute.
 */
UNIT(default_words)
{
	for (uint8_t version = 2; version <= 3; version++) {
		const struct sf_row entry = fixture_cfa(0, SP, 160);
		struct sf_row frame = fixture_cfa(0, FP, 320);

		expect_words(version, entry, "\0\3\0", 3);
		expect_words(version, saved(frame, -48, -72), "\0\6\x14\xd0\xb8", 5);
		expect_words(version, saved(frame, -48, 0), "\0\4\x14\xd0", 4);
		expect_words(version, saved(frame, 0, -72), "\0\6\x14\0\xb8", 5);
		frame.cfa_off = 160 + 8 * 127;
		expect_words(version, frame, "\0\2\x7f", 3);
		frame.cfa_off += 8;
		expect_words(version, frame, "\0\x22\0\x80", 4);
		frame.cfa_off = 160 - 8 * 129;
		expect_words(version, frame, "\0\x22\xff\x7f", 4);
		frame.cfa_off = INT32_MIN;
		expect_words(version, frame, "\0\x42\xef\xff\xff\xec", 6);
		frame.cfa_off = INT32_MAX - 7;
		expect_words(version, frame, "\0\x42\x0f\xff\xff\xeb", 6);
	}
}

UNIT(registers_version_2)
{
	const struct sf_row entry = fixture_cfa(0, SP, 160);

	expect_words(2, in_regs(entry, F2, F0), "\0\7\0\x23\x21", 5);
	expect_words(2, in_regs(entry, R14, 0), "\0\5\0\x1d", 4);
	expect_words(2, in_regs(entry, 0, F0), "\0\7\0\0\x21", 5);
	expect_words(2, in_regs(saved(entry, -48, 0), 0, 31), "\0\7\0\xd0\x3f", 5);
}

UNIT(registers_version_3)
{
	const struct sf_row entry = fixture_cfa(0, SP, 160);
	struct sf_row row = entry;

	expect_words(3, in_regs(entry, F2, F0), "\0\1\0\1\0\0\x0c\x79\0\x89\0\x81\0", 13);
	expect_words(3, in_regs(entry, 0, F0), "\0\x0a\x79\0\0\x81\0", 7);
	expect_words(
	    3, in_regs(saved(entry, -48, 0), 0, F0), "\0\x0c\x79\0\2\xd0\x81\0", 8);
	row.cfa = (struct sf_loc){.kind = SF_LOC_AT_REG, .reg = FP};
	row.cfa_off = 168;
	expect_words(3, row, "\0\4\x5b\1", 4);
	/* At the CFA itself; in a default row this would be padding. */
	row = entry;
	row.ra.kind = SF_LOC_AT_CFA;
	expect_words(3, row, "\0\x08\x79\0\2\0", 6);
	/* Slots can be odd where no word is a register. */
	expect_words(3, saved(entry, -47, 0), "\0\5\0\xd1", 4);
}

struct damage {
	uint8_t version;
	uint8_t word[4]; /* what the one CFA or RA word becomes */
	bool in_ra;
};

/* A register that is too high, and CFA offsets of more than 32 bits. */
static const struct damage damages[] = {
    {2, {0, 0, 0, 32 << 1 | 1}, true},
    {2, {0xff, 0xff, 0xff, 0xff}, true},
    {2, {0x10, 0, 0, 0}, false},
    {2, {0x0f, 0xff, 0xff, 0xff}, false},
    {3, {0xef, 0xff, 0xff, 0xeb}, false},
};

UNIT_EACH(damage_refused, damages)
{
	const struct damage *damage = &damages[_i];
	struct sf_section model = fixture_section(SFRAME_ABI_S390X_ENDIAN_BIG);
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	fixture_func(&model, 0x2000, 64);
	fixture_row(&model, saved(fixture_cfa(0, SP, 160), -0x20000, 0));
	wr = fixture_encode_as(damage->version, &model, true, false, ADDR);
	memcpy(wr.data + wr.size - (damage->in_ra ? 4 : 8), damage->word, 4);
	view = fixture_open(&wr, ADDR);
	ck_assert(!sf_check_all(&view, &err));
	ck_assert_ptr_eq(strstr(err.text, "rows-readable: "), err.text);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}
