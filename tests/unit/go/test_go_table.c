/* SPDX-License-Identifier: MIT */
/* Headers, functions and tables of SP, as each release of Go writes them, and damaged ones. */
#include <stdlib.h>

#include "tests/unit/go/test_go_build.h"
#include "tests/unit/unit.h"

static const uint32_t magics[] = {0xfffffffa, 0xfffffff0, 0xfffffff1};
enum { N_MAGICS = sizeof(magics) / sizeof(magics[0]) };

/* SP is 0 for 4 bytes, 24 lower for 16 bytes, and 0 again for 8: changes as zigzag. */
static const uint8_t frame[] = {2, 4, 48, 16, 47, 8, 0};
static const uint8_t leaf[] = {2, 10, 0};

static const struct build_func funcs[] = {
    {"runtime.goexit", 0x00, leaf, GO_FLAG_TOP},
    {"main.f", 0x10, frame, 0},
    {"foreign", 0x40, NULL, 0},
};
enum { N_FUNCS = sizeof(funcs) / sizeof(funcs[0]) };

static struct err err;

static struct go_table read_table(const struct wr *wr)
{
	struct go_table table;

	ck_assert_msg(
	    go_table_read("S", wr->data, wr->size, &table, &err), "%s", err.text);
	return table;
}

UNIT_LOOP(functions_of_each_version, 0, N_MAGICS)
{
	struct wr wr;
	struct go_table table;
	struct go_func func;

	build_table(&wr, magics[_i], 1, funcs, N_FUNCS, 0x50);
	table = read_table(&wr);
	ck_assert_int_eq((int)table.version, _i);
	ck_assert_uint_eq(table.n_funcs, N_FUNCS);
	for (size_t i = 0; i < N_FUNCS; i++) {
		ck_assert_msg(go_table_func(&table, i, &func, &err), "%s", err.text);
		ck_assert_str_eq(func.name, funcs[i].name);
		ck_assert_uint_eq(func.start, BUILD_TEXT + funcs[i].at);
		ck_assert_uint_eq(
		    func.limit, BUILD_TEXT + (i + 1 < N_FUNCS ? funcs[i + 1].at : 0x50));
		ck_assert_uint_eq(func.flags, funcs[i].flags);
		ck_assert_int_eq(func.sp_at != 0, funcs[i].levels != NULL);
	}
	wr_deinit(&wr);
}

UNIT(levels_of_a_frame)
{
	struct go_levels levels = {0};
	struct go_table table;
	struct go_func func;
	struct wr wr;

	build_table(&wr, 0xfffffff1, 1, funcs, N_FUNCS, 0x50);
	table = read_table(&wr);
	ck_assert(go_table_func(&table, 1, &func, &err));
	ck_assert_msg(go_table_levels(&table, &func, &levels, &err), "%s", err.text);
	ck_assert_uint_eq(levels.n, 3);
	ck_assert_uint_eq(levels.end, func.start + 28);
	ck_assert_int_eq(go_levels_at(&levels, func.start), 0);
	ck_assert_int_eq(go_levels_at(&levels, func.start + 3), 0);
	ck_assert_int_eq(go_levels_at(&levels, func.start + 4), 24);
	ck_assert_int_eq(go_levels_at(&levels, func.start + 19), 24);
	ck_assert_int_eq(go_levels_at(&levels, func.start + 20), 0);
	free(levels.list);
	wr_deinit(&wr);
}

/* Reads all that a table has; false where some of it is damaged. */
static bool read_all(const uint8_t *data, size_t size)
{
	struct go_levels levels = {0};
	struct go_table table;
	bool ok = go_table_read("S", data, size, &table, &err);

	for (size_t i = 0; ok && i < table.n_funcs; i++) {
		struct go_func func;

		ok = go_table_func(&table, i, &func, &err) &&
		     (!func.sp_at || go_table_levels(&table, &func, &levels, &err));
	}
	free(levels.list);
	return ok;
}

/* The error for the table once it has value at off. */
static const char *said(struct wr *wr, size_t off, uint64_t value, bool wide)
{
	uint8_t *copy = malloc(wr->size);
	struct wr changed = {.data = copy, .size = wr->size};

	memcpy(copy, wr->data, wr->size);
	if (wide)
		wr_patch_u64(&changed, off, value);
	else
		wr_patch_u32(&changed, off, (uint32_t)value);
	err = (struct err){0};
	ck_assert(!read_all(copy, wr->size));
	free(copy);
	return err.text;
}

static void expect(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" without \"%s\"", text, part);
}

UNIT(damage_is_named_with_its_place)
{
	struct build_places places;
	struct wr wr;

	places = build_table(&wr, 0xfffffff1, 1, funcs, N_FUNCS, 0x50);
	expect(said(&wr, 0, 0xfffffff2, false), "unknown version (0xfffffff2), S+0x0;");
	ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
	expect(said(&wr, 4, 0x08010001, false), "padding is not 0, S+0x4;");
	expect(said(&wr, 4, 0x08030000, false),
	    "the size of Go instructions is not 1, 2 or 4, S+0x6;");
	expect(said(&wr, 4, 0x04010000, false), "pointers of another size, S+0x7;");
	expect(said(&wr, 8, UINT64_MAX, true), "more functions than the Go table");
	for (size_t at = 32; at < 72; at += 8)
		expect(said(&wr, at, wr.size, true), "an offset leads out");
	expect(said(&wr, places.list, 0x11, false), "do not ascend");
	expect(said(&wr, places.list + 4, 0x7fffffff, false), "the record of a function");
	expect(said(&wr, places.list + 4, (uint32_t)(wr.size - places.list - 20), false),
	    "passes the end of the Go table");
	expect(
	    said(&wr, places.records + 4, 0x80000000, false), "the name of a function");
	expect(
	    said(&wr, places.records + 16, 0x7fffffff, false), "table of SP is outside");
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	wr_deinit(&wr);
}

UNIT_LOOP(damaged_levels, 0, 3)
{
	static const uint8_t standing[] = {2, 0x80, 0x80, 0, 0};
	static const uint8_t leaving[] = {2, 0x11, 0};
	static const uint8_t wide[] = {
	    2, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0};
	static const uint8_t *const tables[] = {standing, leaving, wide};
	static const char *const texts[] = {
	    "leaves its function, S+0x", "leaves its function", "do not fit 32 bits"};
	struct build_func func = {"f", 0, tables[_i], 0};
	struct wr wr;

	build_table(&wr, 0xfffffff1, 1, &func, 1, 0x10);
	ck_assert(!read_all(wr.data, wr.size));
	expect(err.text, texts[_i]);
	wr_deinit(&wr);
}

/* A copy of the right size, so that a read past the end is seen. */
UNIT_LOOP(each_end_and_each_bit, 0, N_MAGICS)
{
	struct wr wr;

	build_table(&wr, magics[_i], 1, funcs, N_FUNCS, 0x50);
	ck_assert(read_all(wr.data, wr.size));
	for (size_t size = 0; size < wr.size; size++) {
		uint8_t *copy = malloc(size + !size);

		memcpy(copy, wr.data, size);
		/* Nothing reads the last 3 bytes of the last record. */
		ck_assert_msg(!read_all(copy, size) || size + 44 > wr.size, "%zu", size);
		free(copy);
	}
	for (size_t bit = 0; bit < wr.size * 8; bit++) {
		wr.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		(void)!read_all(wr.data, wr.size);
		wr.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	wr_deinit(&wr);
}
