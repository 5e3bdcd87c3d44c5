/* SPDX-License-Identifier: MIT */
/* Reads .gopclntab (Go: src/runtime/symtab.go, runtime2.go; "Go 1.2 Runtime Symbol
 * Information" describes the tables of values by PC). */
#include "gen/sources/go/go_table.h"

#include <inttypes.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"

/* Bytes of a pointer on all machines that have rows. */
enum { GO_POINTER = 8 };

static const struct {
	uint32_t magic;
	enum go_version version;
	bool has_text;	  /* the header has the address of the text */
	uint8_t flags_at; /* in a function's record */
} versions[] = {
    {0xfffffffa, GO_1_16, false, 41},
    {0xfffffff0, GO_1_18, true, 37},
    {0xfffffff1, GO_1_20, true, 41},
};

enum { N_VERSIONS = sizeof(versions) / sizeof(versions[0]) };

static int version_of(uint32_t magic)
{
	for (int i = 0; i < N_VERSIONS; i++)
		if (versions[i].magic == magic)
			return i;
	return -1;
}

static struct rd reader(const struct go_table *table, size_t at)
{
	struct rd rd;

	/* Go knows no big-endian machine among those that have rows. */
	rd_init(&rd, table->data, table->size, false);
	rd_seek(&rd, at);
	return rd;
}

static bool table_malformed(
    const struct go_table *table, size_t at, const char *what, struct err *err)
{
	return err_set(err, ERR_MALFORMED, "%s, %s+0x%zx; rebuild the file", what,
	    table->section, at);
}

bool go_table_begins(const uint8_t *data, size_t size)
{
	struct rd rd;

	rd_init(&rd, data, size, false);
	/* All versions, known or not, have this in common. */
	return rd_u32(&rd) >= 0xffffff00 && rd_u16(&rd) == 0 &&
	       (data[6] == 1 || data[6] == 2 || data[6] == 4) && data[7] == GO_POINTER &&
	       size > 8;
}

/* An offset of the header, to something inside of the section. */
static size_t table_offset(const struct go_table *table, struct rd *rd)
{
	uint64_t off = rd_u64(rd);

	if (off >= table->size)
		rd_past_end(rd);
	return rd->failed ? 0 : (size_t)off;
}

/* Reads the part behind the word and the sizes. */
static bool read_places(
    struct go_table *table, struct rd *rd, bool has_text, struct err *err)
{
	uint64_t n = rd_u64(rd);
	size_t before;

	rd_u64(rd); /* files */
	table->text = has_text ? rd_u64(rd) : 0;
	before = rd->pos;
	table->names = table_offset(table, rd);
	table_offset(table, rd); /* compilation units */
	table_offset(table, rd); /* names of files */
	table->pcs = table_offset(table, rd);
	table->funcs = table_offset(table, rd);
	if (rd->failed)
		return table_malformed(
		    table, before, "an offset leads out of the Go table", err);
	/* A function takes 16 bytes and more, with its record. */
	if (n > (table->size - table->funcs) / 16)
		return table_malformed(
		    table, 8, "more functions than the Go table has room for", err);
	table->n_funcs = (size_t)n;
	return true;
}

bool go_table_read_header(const char *section, const uint8_t *data, size_t size,
    struct go_table *table, struct err *err)
{
	struct rd rd;
	uint32_t magic;
	int known;

	*table = (struct go_table){.section = section, .data = data, .size = size};
	rd = reader(table, 0);
	magic = rd_u32(&rd);
	if (rd.failed)
		return table_malformed(table, 0, "the Go table has no header", err);
	known = version_of(magic);
	if (known < 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "Go table of an unknown version (0x%08" PRIx32
		    "), %s+0x0; a newer eh2sframe may know it",
		    magic, section);
	table->version = versions[known].version;
	if (rd_u16(&rd) != 0)
		return table_malformed(table, 4, "the Go table's padding is not 0", err);
	table->quantum = rd_u8(&rd);
	if (table->quantum != 1 && table->quantum != 2 && table->quantum != 4)
		return table_malformed(
		    table, 6, "the size of Go instructions is not 1, 2 or 4", err);
	if (rd_u8(&rd) != GO_POINTER)
		return table_malformed(
		    table, 7, "the Go table is for pointers of another size", err);
	return read_places(table, &rd, versions[known].has_text, err);
}

bool go_table_read(const char *section, const uint8_t *data, size_t size,
    struct go_table *table, struct err *err)
{
	if (!go_table_read_header(section, data, size, table, err))
		return false;
	table->names_end = size;
	while (table->names_end && data[table->names_end - 1])
		table->names_end--;
	return true;
}

/* An entry of the list of functions: its address, and where its record is. */
static uint64_t table_entry(
    const struct go_table *table, struct rd *rd, uint64_t *record_at)
{
	uint64_t start;

	if (table->version == GO_1_16) {
		start = rd_u64(rd);
		*record_at = rd_u64(rd);
		return start;
	}
	start = table->text + rd_u32(rd);
	*record_at = rd_u32(rd);
	return start;
}

/* Reads the record; func->at is set. */
static bool table_record(
    const struct go_table *table, struct go_func *func, struct err *err)
{
	struct rd rd = reader(table, func->at);
	int32_t name_at;
	uint32_t sp_at;

	if (table->version == GO_1_16)
		rd_u64(&rd);
	else
		rd_u32(&rd);
	name_at = rd_s32(&rd);
	rd_u32(&rd); /* arguments */
	rd_u32(&rd); /* deferred calls */
	sp_at = rd_u32(&rd);
	rd_seek(&rd, func->at + versions[table->version].flags_at);
	func->flags = rd_u8(&rd);
	if (rd.failed)
		return table_malformed(table, func->at,
		    "a function's record passes the end of the Go table", err);
	if (name_at < 0 || (uint64_t)name_at >= table->size - table->names)
		return table_malformed(table, func->at,
		    "the name of a function is outside of the Go table", err);
	if (sp_at >= table->size - table->pcs)
		return table_malformed(table, func->at,
		    "a function's table of SP is outside of the Go table", err);
	func->sp_at = sp_at ? table->pcs + sp_at : 0;
	/* Functions may all have one long name, so nothing reads it to its end here. */
	if (table->names + (size_t)name_at >= table->names_end)
		return table_malformed(
		    table, func->at, "the name of a function does not end", err);
	func->name = (const char *)table->data + table->names + name_at;
	return true;
}

bool go_table_func(
    const struct go_table *table, size_t i, struct go_func *func, struct err *err)
{
	const size_t bytes = table->version == GO_1_16 ? 16 : 8;
	const size_t at = table->funcs + i * bytes;
	uint64_t record_at;
	struct rd rd = reader(table, at);

	*func = (struct go_func){0};
	func->start = table_entry(table, &rd, &record_at);
	/* The last one is followed by an address alone. */
	func->limit = table->version == GO_1_16 ? rd_u64(&rd) : table->text + rd_u32(&rd);
	if (rd.failed)
		return table_malformed(table, at,
		    "the list of functions passes the end of the Go table", err);
	if (func->limit < func->start)
		return table_malformed(
		    table, at, "the functions of the Go table do not ascend", err);
	if (record_at >= table->size - table->funcs)
		return table_malformed(table, at,
		    "the record of a function is outside of the Go table", err);
	func->at = table->funcs + (size_t)record_at;
	return table_record(table, func, err);
}

static bool levels_add(
    struct go_levels *levels, uint64_t pc, int64_t below, struct err *err)
{
	if (levels->n && levels->list[levels->n - 1].below == below)
		return true;
	if (!vec_reserve(&levels->list, &levels->cap, levels->n + 1))
		return err_set_nomem(err);
	levels->list[levels->n++] = (struct go_level){pc, below};
	return true;
}

bool go_table_levels(const struct go_table *table, const struct go_func *func,
    struct go_levels *levels, struct err *err)
{
	struct rd rd = reader(table, func->sp_at);
	uint64_t pc = func->start;
	int64_t below = -1;

	levels->n = 0;
	while (pc < func->limit) {
		size_t at = rd.pos;
		uint64_t change = rd_uleb(&rd), step;

		/* A change of 0 ends the table, except at its beginning. */
		if (change == 0 && levels->n)
			break;
		step = rd_uleb(&rd);
		if (rd.failed || change > UINT32_MAX || step > UINT32_MAX)
			return table_malformed(table, at, "damaged Go table of SP", err);
		if (step == 0 || step * table->quantum > func->limit - pc)
			return table_malformed(
			    table, at, "a Go table of SP leaves its function", err);
		/* The lowest bit is the sign. */
		below +=
		    change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
		if (below > INT32_MAX || below < INT32_MIN)
			return table_malformed(table, at,
			    "a Go table of SP has values that do not fit 32 bits", err);
		if (!levels_add(levels, pc, below, err))
			return false;
		pc += step * table->quantum;
	}
	levels->end = pc;
	return true;
}

int64_t go_levels_at(const struct go_levels *levels, uint64_t pc)
{
	return levels->list[search_list_above(levels->list, levels->n, pc, pc) - 1].below;
}
