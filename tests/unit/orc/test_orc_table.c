/* SPDX-License-Identifier: MIT */
/* Entries of each layout, what says the layout, order, and damaged tables. */
#include "tests/unit/orc/test_orc_build.h"
#include "tests/unit/unit.h"

static struct err err;

/* Bytes that kernels have, and what they mean: of Debian's 5.10, 6.12 and 7.2, and one of 6.3 by its
 * definition. */
static const struct {
	enum orc_layout layout;
	uint8_t bytes[ORC_ENTRY_BYTES];
	struct orc_entry entry;
} samples[] = {
    {ORC_4_14, {16, 0, 0, 0, 0x05, 0x00},
	{16, 0, ORC_SP, ORC_UNDEFINED, ORC_CALL, false}},
    {ORC_4_14, {16, 0, 0xf0, 0xff, 0x14, 0x00},
	{16, -16, ORC_BP, ORC_PREV_SP, ORC_CALL, false}},
    {ORC_4_14, {0xd8, 0xff, 0, 0, 0x48, 0x00},
	{-40, 0, ORC_BP_INDIRECT, ORC_BP, ORC_CALL, false}},
    {ORC_4_14, {0, 0, 0, 0, 0x05, 0x01}, {0, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS, true}},
    {ORC_4_14, {8, 0, 0, 0, 0x02, 0x02},
	{8, 0, ORC_DX, ORC_UNDEFINED, ORC_REGS_PARTIAL, true}},
    {ORC_4_14, {0, 0, 0, 0, 0x00, 0x04},
	{0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_END_OF_STACK, false}},
    {ORC_4_14, {0, 0, 0, 0, 0x00, 0x00},
	{0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_NOTHING, false}},
    {ORC_6_3, {0, 0, 0, 0, 0x05, 0x05}, {0, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS, true}},
    {ORC_6_3, {0, 0, 0, 0, 0x05, 0x02},
	{0, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS_PARTIAL, false}},
    {ORC_6_3, {0, 0, 0, 0, 0x00, 0x08},
	{0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_END_OF_STACK, false}},
    {ORC_6_4, {8, 0, 0, 0, 0x05, 0x0c},
	{8, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS_PARTIAL, true}},
    {ORC_6_4, {24, 0, 0xf0, 0xff, 0x19, 0x02},
	{24, -16, ORC_SP_INDIRECT, ORC_PREV_SP, ORC_CALL, false}},
    {ORC_6_4, {0, 0, 0, 0, 0x00, 0x01},
	{0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_END_OF_STACK, false}},
    {ORC_7_1, {24, 0, 0xf0, 0xff, 0x83, 0x02},
	{24, -16, ORC_SP, ORC_PREV_SP, ORC_CALL, false}},
    {ORC_7_1, {0xd8, 0xff, 0, 0, 0x4a, 0x02},
	{-40, 0, ORC_BP_INDIRECT, ORC_BP, ORC_CALL, false}},
    {ORC_7_1, {16, 0, 0, 0, 0x09, 0x02},
	{16, 0, ORC_SP_INDIRECT, ORC_UNDEFINED, ORC_CALL, false}},
    {ORC_7_1, {0, 0, 0, 0, 0x03, 0x0b}, {0, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS, true}},
};
enum { N_SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static void is_entry(const struct orc_entry *entry, const struct orc_entry *expected)
{
	ck_assert_int_eq(entry->sp_offset, expected->sp_offset);
	ck_assert_int_eq(entry->bp_offset, expected->bp_offset);
	ck_assert_int_eq((int)entry->sp_reg, (int)expected->sp_reg);
	ck_assert_int_eq((int)entry->bp_reg, (int)expected->bp_reg);
	ck_assert_int_eq((int)entry->type, (int)expected->type);
	ck_assert_int_eq(entry->signal, expected->signal);
}

START_TEST(entries_of_each_layout)
{
	struct orc_entry entry;
	uint8_t bytes[ORC_ENTRY_BYTES];

	orc_read(samples[_i].layout, samples[_i].bytes, &entry);
	is_entry(&entry, &samples[_i].entry);
	orc_write(samples[_i].layout, &entry, bytes);
	ck_assert_mem_eq(bytes, samples[_i].bytes, ORC_ENTRY_BYTES);
}
END_TEST

START_TEST(numbers_without_a_meaning)
{
	struct orc_entry entry;

	orc_read(ORC_6_4, (const uint8_t[]){0, 0, 0, 0, 0xfa, 0x05}, &entry);
	ck_assert_int_eq((int)entry.sp_reg, (int)ORC_UNKNOWN_REG);
	ck_assert_int_eq((int)entry.bp_reg, (int)ORC_UNKNOWN_REG);
	ck_assert_int_eq((int)entry.type, (int)ORC_UNKNOWN_TYPE);
	orc_read(ORC_7_1, (const uint8_t[]){0, 0, 0, 0, 0xba, 0x07}, &entry);
	ck_assert_int_eq((int)entry.sp_reg, (int)ORC_BP_INDIRECT);
	ck_assert_int_eq((int)entry.bp_reg, (int)ORC_UNKNOWN_REG);
	ck_assert_int_eq((int)entry.type, (int)ORC_UNKNOWN_TYPE);
	orc_read(ORC_4_14, (const uint8_t[]){0, 0, 0, 0, 0x05, 0x03}, &entry);
	ck_assert_int_eq((int)entry.type, (int)ORC_UNKNOWN_TYPE);
}
END_TEST

static const struct orc_entry call = {8, 0, ORC_SP, ORC_UNDEFINED, ORC_CALL, false};
static const struct orc_entry deep = {16, 0, ORC_SP, ORC_UNDEFINED, ORC_CALL, false};
static const struct orc_entry regs = {0, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS, true};
static const struct orc_entry end = {
    0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_NOTHING, false};

/* Sections of a module: not in order, and where one ends the next one begins. */
START_TEST(places_ascend)
{
	const struct build_entry entries[] = {
	    {0x40, call}, {0x50, deep}, {0x60, end}, {0x10, call}, {0x40, end}};
	const struct {
		int at;
		size_t entry;
	} expected[] = {{0x10, 3}, {0x40, 0}, {0x50, 1}, {0x60, 2}};
	struct orc_table table;
	struct build build;
	const struct orc_input input =
	    build_table(&build, (enum orc_layout)_i, entries, 5);

	ck_assert_msg(orc_table_read(&input, &table, &err), "%s", err.text);
	ck_assert_int_eq((int)table.layout, _i);
	ck_assert_uint_eq(table.n, 4);
	for (size_t i = 0; i < table.n; i++) {
		ck_assert_uint_eq(table.places[i].pc, BUILD_TEXT + expected[i].at);
		ck_assert_uint_eq(table.places[i].entry, expected[i].entry);
	}
	orc_table_deinit(&table);
	build_free(&build);
}
END_TEST

static void refuses(const struct orc_input *input, enum err_kind kind, const char *words)
{
	struct orc_table table;

	err = (struct err){0};
	ck_assert(!orc_table_read(input, &table, &err));
	ck_assert_int_eq((int)err.kind, (int)kind);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

START_TEST(versions_without_a_header)
{
	static const struct {
		unsigned int major, minor;
		int layout; /* -1: not known */
		bool sp_indirect;
	} versions[] = {{0, 0, -1, false}, {4, 13, -1, false}, {4, 14, ORC_4_14, false},
	    {5, 12, ORC_4_14, false}, {5, 13, ORC_4_14, true}, {6, 2, ORC_4_14, true},
	    {6, 3, ORC_6_3, true}, {6, 4, ORC_6_4, true}, {6, 5, -1, false},
	    {7, 1, -1, false}};
	const struct build_entry entries[] = {{0x10, call}, {0x20, end}};

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		const int layout = versions[i].layout;
		struct orc_table table;
		struct build build;
		struct orc_input input = build_table(
		    &build, layout < 0 ? ORC_4_14 : (enum orc_layout)layout, entries, 2);

		input.header = (struct orc_bytes){0};
		input.major = versions[i].major;
		input.minor = versions[i].minor;
		if (layout < 0) {
			refuses(&input, ERR_UNSUPPORTED, ".orc_unwind+0x0");
		} else {
			ck_assert_msg(
			    orc_table_read(&input, &table, &err), "%s", err.text);
			ck_assert_int_eq((int)table.layout, layout);
			ck_assert_int_eq(
			    table.sp_indirect_known, versions[i].sp_indirect);
			orc_table_deinit(&table);
		}
		build_free(&build);
	}
}
END_TEST

/* A distribution took the layout of 6.4 into 5.14, without the header. */
START_TEST(another_layout_shows)
{
	const struct build_entry entries[] = {{0x10, call}, {0x20, deep}, {0x30, end}};
	struct build build;
	struct orc_input input = build_table(&build, ORC_6_4, entries, 3);

	input.header = (struct orc_bytes){0};
	input.major = 5;
	input.minor = 14;
	refuses(&input, ERR_UNSUPPORTED, "do not have the layout of Linux 5.14");
	build_free(&build);
}
END_TEST

START_TEST(damaged_tables)
{
	const struct build_entry entries[] = {{0x10, call}, {0x20, deep}, {0x30, end}};
	const struct build_entry twice[] = {{0x10, call}, {0x20, end}, {0x10, deep}};
	uint8_t hash[ORC_HEADER_BYTES];
	struct build build;
	struct orc_input input = build_table(&build, ORC_6_4, entries, 3);

	input.entries.size -= ORC_ENTRY_BYTES;
	refuses(&input, ERR_MALFORMED,
	    "0xc bytes of .orc_unwind_ip and 0xc bytes of .orc_unwind");
	input.entries.size += 1;
	refuses(&input, ERR_MALFORMED, "are not one table, .orc_unwind+0xc;");
	input.entries.size = ORC_ENTRY_BYTES - 1;
	refuses(&input, ERR_MALFORMED, "are not one table, .orc_unwind+0x0;");
	input.entries.size = 0;
	refuses(&input, ERR_MALFORMED, "are not one table, .orc_unwind_ip+0x0;");
	input.entries.size = 3 * ORC_ENTRY_BYTES;
	input.ips.size -= 1;
	refuses(&input, ERR_MALFORMED, "are not one table, .orc_unwind+0xc;");
	input.ips.size += 2;
	refuses(&input, ERR_MALFORMED, "are not one table, .orc_unwind_ip+0xc;");
	input.entries.size = 2 * ORC_ENTRY_BYTES + 1;
	input.ips.size = 0;
	refuses(&input, ERR_MALFORMED, "are not one table, .orc_unwind+0x0;");
	input.header.size--;
	refuses(&input, ERR_MALFORMED, "19 bytes are not the hash");
	memcpy(hash, build_hash_6_4, sizeof(hash));
	hash[19] ^= 1;
	input.header = (struct orc_bytes){hash, sizeof(hash)};
	refuses(&input, ERR_UNSUPPORTED, "hash fe5d32bf..., .orc_header+0x0");
	build_free(&build);
	input = build_table(&build, ORC_7_1, twice, 3);
	refuses(&input, ERR_MALFORMED,
	    "two entries of ORC are for the code at 0x1010, .orc_unwind_ip+0x8");
	build_free(&build);
	/* More of one kind than what code is made of. */
	input = build_table(&build, ORC_4_14, (const struct build_entry[]){{0, regs}}, 1);
	refuses(&input, ERR_UNSUPPORTED, "do not have the layout");
	build_free(&build);
}
END_TEST

START_TEST(nothing_to_read)
{
	struct orc_table table;
	const struct orc_input input = {.major = 5, .minor = 10};

	ck_assert(orc_table_read(&input, &table, &err));
	ck_assert_uint_eq(table.n, 0);
	orc_table_deinit(&table);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("orc_table");
	TCase *tcase = tcase_create("orc_table");

	tcase_add_loop_test(tcase, entries_of_each_layout, 0, N_SAMPLES);
	tcase_add_test(tcase, numbers_without_a_meaning);
	tcase_add_loop_test(tcase, places_ascend, 0, ORC_N_LAYOUTS);
	tcase_add_test(tcase, versions_without_a_header);
	tcase_add_test(tcase, another_layout_shows);
	tcase_add_test(tcase, damaged_tables);
	tcase_add_test(tcase, nothing_to_read);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
