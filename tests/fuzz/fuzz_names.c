/* SPDX-License-Identifier: MIT */
/*
 * Text that names functions: what a compiler at run time leaves in /tmp/perf-PID.map, and /proc/kallsyms. Each name that
 * is found is of a function that has the address.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "base/names/lines.h"
#include "profile/jit.h"
#include "profile/symbols/naming_table.h"

const char *const fuzz_section = NULL;

static char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_ASSERT(text, "no memory for %zu bytes", size);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Looks one address up the plain way: the last line that has it. */
static bool check_one(const struct jit_name *found, char *text)
{
	struct line_function function;
	const char *last = NULL;

	for (char *line; (line = lines_next(&text));)
		if (lines_map(line, &function) && function.start <= found->address &&
		    found->address - function.start < function.size)
			last = function.name;
	return found->name ? last && strcmp(found->name, last) == 0 : !last;
}

static void check_jit(const uint8_t *data, size_t size)
{
	static const uint64_t ADDRESSES[] = {0, 0x10, 0x400000, 0x40000f, 0x400010,
	    0x400018, 0x400020, 0x40002f, 0x400030, 0x500000, 0x7f0000000000,
	    0x7f0000000001, 0xffffffffffffff00, 0xfffffffffffffffe, UINT64_MAX};
	enum { N = sizeof(ADDRESSES) / sizeof(*ADDRESSES) };
	struct jit_name list[N] = {{0}};
	char *text = text_of(data, size);

	for (size_t i = 0; i < N; i++)
		list[i].address = ADDRESSES[i];
	jit_find(list, N, text);
	for (size_t i = 0; i < N; i++) {
		char *again = text_of(data, size);

		FUZZ_ASSERT(check_one(&list[i], again), "address %zu", i);
		free(again);
	}
	free(text);
}

static void check_table(const uint8_t *data, size_t size)
{
	struct table table = {0};
	struct err err = {0};
	const struct symbol *list;
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/kallsyms", getenv(FUZZ_DIR));
	file = fopen(path, "wb");
	FUZZ_ASSERT(file && fputs("1 T _text\n", file) >= 0 &&
			fwrite(data, 1, size, file) == size && fclose(file) == 0,
	    "cannot write %s", path);
	FUZZ_ASSERT(table_read_kernel(path, 1, &table, &err), "%s", err.text);
	list = table.symbols.list;
	for (size_t i = 0; i < table.symbols.n; i++) {
		FUZZ_ASSERT(list[i].name && *list[i].name, "name %zu", i);
		FUZZ_ASSERT(i == 0 || list[i - 1].addr <= list[i].addr, "name %zu", i);
		FUZZ_ASSERT(symbols_find(&table.symbols, list[i].addr), "name %zu", i);
	}
	table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_jit(data, size);
	check_table(data, size);
	return 0;
}
