/* SPDX-License-Identifier: MIT */
/*
 * Functions of one equal row are joined, unless one of several things keeps them apart.
 */
#include <stdio.h>

#include "sframe/compact/compact.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum { BASE = 0x4000, SIZE = 0x10 };

/* The properties in which the two functions differ, or that both have. */
enum pair {
	ALIKE,
	OTHER_ROW,
	SIGNED_ROW,
	FIRST_HAS_TWO,
	SECOND_HAS_TWO,
	BOTH_HAVE_TWO,
	FIRST_REPEATS,
	SECOND_REPEATS,
	BOTH_REPEAT,
	FIRST_IS_SIGNAL,
	SECOND_IS_SIGNAL,
	BOTH_ARE_SIGNALS,
	FIRST_HAS_KEY_B,
	SECOND_HAS_KEY_B,
	BOTH_HAVE_KEY_B,
	BOTH_ARE_FLEXIBLE,
	BOTH_ARE_OUTERMOST,
	SECOND_ROW_LATE,
	LARGE, /* together INT32_MAX */
	TOO_LARGE,
	N_PAIRS,
};

static const char *const names[N_PAIRS] = {
    [ALIKE] = "alike",
    [OTHER_ROW] = "another row",
    [SIGNED_ROW] = "a row that differs in the signature",
    [FIRST_HAS_TWO] = "the first has two rows",
    [SECOND_HAS_TWO] = "the second has two rows",
    [BOTH_HAVE_TWO] = "both have two",
    [FIRST_REPEATS] = "the first is PCMASK",
    [SECOND_REPEATS] = "the second is PCMASK",
    [BOTH_REPEAT] = "both are PCMASK",
    [FIRST_IS_SIGNAL] = "the first is a signal frame",
    [SECOND_IS_SIGNAL] = "the second is a signal frame",
    [BOTH_ARE_SIGNALS] = "both are signal frames",
    [FIRST_HAS_KEY_B] = "the first has key B",
    [SECOND_HAS_KEY_B] = "the second has key B",
    [BOTH_HAVE_KEY_B] = "both have key B",
    [BOTH_ARE_FLEXIBLE] = "both are flexible",
    [BOTH_ARE_OUTERMOST] = "both are outermost",
    [SECOND_ROW_LATE] = "a row that does not begin with its function",
    [LARGE] = "as large as an FDE gets",
    [TOO_LARGE] = "larger",
};

static bool joins(enum pair pair)
{
	return pair == ALIKE || pair == BOTH_HAVE_KEY_B || pair == BOTH_ARE_OUTERMOST ||
	       pair == LARGE;
}

static void change_row(struct sf_row *row, enum pair pair, bool second)
{
	if (pair == OTHER_ROW && second)
		row->cfa_off += 8;
	if (pair == SIGNED_ROW && second)
		row->ra_signed = true;
	if (pair == BOTH_ARE_FLEXIBLE)
		row->cfa.kind = SF_LOC_AT_REG;
	if (pair == BOTH_ARE_OUTERMOST)
		*row = (struct sf_row){.outermost = true};
	if (pair == SECOND_ROW_LATE && second)
		row->start = 1;
}

/* Both of the two, or one of them, in the order of the enumeration. */
static bool concerns(enum pair pair, enum pair first, bool second)
{
	return pair == first + 2 || pair == first + second;
}

static void change_func(struct sf_section *section, enum pair pair, bool second)
{
	struct sf_func *func = &section->funcs[section->n_funcs - 1];

	if (concerns(pair, FIRST_HAS_TWO, second))
		fixture_row(section, fixture_cfa(4, AARCH64_SP, 48));
	if (concerns(pair, FIRST_REPEATS, second)) {
		func->pcmask = true;
		func->rep_size = SIZE / 2;
	}
	func->signal_frame = concerns(pair, FIRST_IS_SIGNAL, second);
	func->pauth_b = concerns(pair, FIRST_HAS_KEY_B, second);
}

static struct sf_section make(uint8_t abi, enum pair pair, uint32_t gap)
{
	struct sf_section section = fixture_section(abi);
	uint32_t size = SIZE;
	uint64_t start = BASE;

	if (pair == LARGE || pair == TOO_LARGE)
		size = (uint32_t)INT32_MAX - SIZE - gap + (pair == TOO_LARGE);
	for (int second = 0; second < 2; second++) {
		struct sf_row row = fixture_cfa(0, sf_abi_find(abi)->sp, 16);

		change_row(&row, pair, second);
		fixture_func(&section, start, second ? SIZE : size);
		fixture_row(&section, row);
		change_func(&section, pair, second);
		start += size + gap;
	}
	return section;
}

static struct sf_compact_stats compact_equal(struct sf_section *section, uint8_t version,
    const struct sf_compact_range *taken, size_t n_taken)
{
	const struct sf_compact_options options = {
	    .version = version, .taken = taken, .n_taken = n_taken};
	struct sf_compact_stats stats;
	struct err err = {0};

	ck_assert_msg(sf_compact_equal(section, &options, &stats, &err), "%s", err.text);
	ck_assert_uint_eq(stats.n_funcs, section->n_funcs);
	return stats;
}

UNIT_LOOP(pairs, 0, N_PAIRS)
{
	enum pair pair = (enum pair)_i;
	/* Only x86-64 and s390x have flexible functions. */
	uint8_t abi = pair == BOTH_ARE_FLEXIBLE ? SFRAME_ABI_AMD64_ENDIAN_LITTLE
						: SFRAME_ABI_AARCH64_ENDIAN_LITTLE;

	for (uint32_t gap = 0; gap < 18; gap++) {
		struct sf_section section = make(abi, pair, gap);
		struct sf_func second = section.funcs[1];
		struct sf_compact_stats stats = compact_equal(&section, 3, NULL, 0);
		bool joined = joins(pair) && gap < 16;

		if (section.n_funcs != (joined ? 1 : 2))
			ck_abort_msg("%s, %u bytes apart: %zu functions", names[pair],
			    gap, section.n_funcs);
		ck_assert_uint_eq(stats.n_before, 2);
		ck_assert_uint_eq(stats.rows_before - stats.n_rows, joined);
		ck_assert_uint_eq(stats.padding_bytes, joined ? gap : 0);
		if (joined) {
			ck_assert_uint_eq(
			    section.funcs[0].size, second.start + second.size - BASE);
			ck_assert_uint_eq(section.funcs[0].first_row, 0);
		} else {
			ck_assert_mem_eq(&section.funcs[1], &second, sizeof(second));
		}
		sf_section_deinit(&section);
	}
}

/* Taken ranges that lie in between or touch, and others that lie elsewhere. */
UNIT(taken)
{
	static const struct {
		uint32_t gap;
		struct sf_compact_range taken[2];
		bool joined;
	} cases[] = {
	    {15, {{BASE + 0x10, BASE + 0x11}}, false},
	    {15, {{BASE + 0x1e, BASE + 0x1f}}, false},
	    {15, {{BASE + 0x18, BASE + 0x18}}, false},
	    {15, {{BASE + 0x10, BASE + 0x10}}, false},
	    {15, {{BASE + 0x1f, BASE + 0x1f}}, false},
	    {0, {{BASE + 0x10, BASE + 0x10}}, false},
	    {0, {{BASE, BASE}, {BASE + 0x10, BASE + 0x10}}, false},
	    {15, {{0x100, 0x200}, {BASE + 0x12, BASE + 0x14}}, false},
	    {15, {{BASE, BASE}, {BASE + 0x2f, BASE + 0x2f}}, true},
	    {0, {{0x100, BASE}, {BASE + 0x20, BASE + 0x30}}, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sf_section section =
		    make(SFRAME_ABI_AMD64_ENDIAN_LITTLE, ALIKE, cases[i].gap);

		compact_equal(&section, 2, cases[i].taken, cases[i].taken[1].end ? 2 : 1);
		if (section.n_funcs != (cases[i].joined ? 1 : 2))
			ck_abort_msg("case %zu: %zu functions", i, section.n_funcs);
		sf_section_deinit(&section);
	}
}

/* Rows that functions share stay with their functions: 2, 2, 2 | taken | 2, 3, 3 and two
 * rows, whose first is the 2 that all have. */
UNIT(shared_rows)
{
	static const struct sf_compact_range border = {BASE + 0x30, BASE + 0x30};
	static const struct {
		uint32_t start, size;
		size_t first_row;
		uint32_t n_rows;
	} wanted[] = {{BASE, 0x30, 0, 1}, {BASE + 0x30, 0x10, 0, 1},
	    {BASE + 0x40, 0x20, 1, 1}, {BASE + 0x60, 0x10, 0, 2}};
	struct sf_section section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_row rows[2];

	fixture_func(&section, BASE, SIZE);
	fixture_row(&section, fixture_cfa(0, AMD64_SP, 16));
	for (uint32_t i = 1; i < 4; i++)
		ck_assert(sf_section_add_same(&section, 0, BASE + i * SIZE, SIZE));
	fixture_func(&section, BASE + 4 * SIZE, SIZE);
	fixture_row(&section, fixture_cfa(0, AMD64_SP, 24));
	ck_assert(sf_section_add_same(&section, 4, BASE + 5 * SIZE, SIZE));
	ck_assert(sf_section_add_same(&section, 0, BASE + 6 * SIZE, SIZE));
	section.funcs[6].n_rows = 2;
	memcpy(rows, section.rows, sizeof(rows));
	compact_equal(&section, 2, &border, 1);
	ck_assert_uint_eq(section.n_rows, 2);
	ck_assert_mem_eq(section.rows, rows, sizeof(rows));
	ck_assert_uint_eq(section.n_funcs, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < section.n_funcs; i++) {
		ck_assert_uint_eq(section.funcs[i].start, wanted[i].start);
		ck_assert_uint_eq(section.funcs[i].size, wanted[i].size);
		ck_assert_uint_eq(section.funcs[i].first_row, wanted[i].first_row);
		ck_assert_uint_eq(section.funcs[i].n_rows, wanted[i].n_rows);
	}
	sf_section_deinit(&section);
}

UNIT(nothing_to_do)
{
	struct sf_section section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	const struct sf_compact_options options = {.version = 4};
	struct err err = {0};

	ck_assert_uint_eq(compact_equal(&section, 2, NULL, 0).n_before, 0);
	ck_assert(!sf_compact_equal(&section, &options, NULL, &err));
	ck_assert_int_eq(err.kind, ERR_INTERNAL);
}

/* ---- sf_compact is no worse ---- */

static size_t shared_size(const struct sf_section *section)
{
	struct wr wr = fixture_encode_as(2, section, true, true, 0x100000);
	size_t size = wr.size;

	wr_deinit(&wr);
	return size;
}

/* Whole functions share their rows here, and each other way to cut costs more than putting the two last together. */
static struct sf_section whole_ones(void)
{
	static const struct {
		uint32_t start;
		int off;
	} rows[] = {{0, 168}, {281, 192}, {283, 200}, {287, 168}, {288, 160}, {291, 200},
	    {476, 184}};
	static const uint32_t sizes[] = {482, 482, 477, 6, 11};
	struct sf_section section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	uint64_t addr = BASE;

	for (size_t i = 0; i < 5; addr += sizes[i++] + 8) {
		fixture_func(&section, addr, sizes[i]);
		for (size_t j = 0; i < 3 && j < sizeof(rows) / sizeof(rows[0]); j++)
			fixture_row(
			    &section, fixture_cfa(rows[j].start, AMD64_SP, rows[j].off));
		if (i >= 3)
			fixture_row(&section, fixture_cfa(0, AMD64_SP, 192));
	}
	return section;
}

UNIT(never_more_than_neighbours)
{
	struct sf_section section = whole_ones(), equal = whole_ones();
	struct sf_compact_options options = {.version = 2, .max_rows = SF_COMPACT_ROWS};
	struct sf_compact_stats stats, wanted;
	struct err err = {0};

	ck_assert(sf_compact_equal(&equal, &options, &wanted, &err));
	ck_assert(sf_compact(&section, &options, &stats, &err));
	ck_assert_uint_le(shared_size(&section), shared_size(&equal));
	ck_assert_uint_eq(stats.n_funcs, wanted.n_funcs);
	ck_assert_uint_eq(stats.n_rows, wanted.n_rows);
	ck_assert_uint_eq(stats.padding_bytes, wanted.padding_bytes);
	ck_assert_uint_eq(stats.bytes + 28, shared_size(&equal));
	sf_section_deinit(&equal);
	sf_section_deinit(&section);
}

/* Text of several stretches, whose functions are alike but for their last row. After a single trial it would take 1,818
 * bytes more. */
UNIT(two_trials)
{
	struct sf_section section = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct sf_compact_options options = {.version = 2, .max_rows = SF_COMPACT_ROWS};
	struct err err = {0};

	for (unsigned int i = 0; i < 18750; i++) {
		fixture_func(&section, BASE + i * 64, 64);
		fixture_row(&section, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(&section, fixture_cfa(1, AMD64_SP, 16));
		fixture_row(&section, fixture_cfa(3, AMD64_SP, 72));
		fixture_row(
		    &section, fixture_cfa(6, AMD64_SP, 2048 + 1024 * (int)(i % 120)));
	}
	ck_assert(sf_compact(&section, &options, NULL, &err));
	ck_assert_uint_le(shared_size(&section), 65036);
	sf_section_deinit(&section);
}
