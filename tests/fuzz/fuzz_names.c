/* SPDX-License-Identifier: MIT */
/*
 * Text that names functions: what a compiler at run time leaves in /tmp/perf-PID.map, and /proc/kallsyms. Each name that
 * is found is of a function that has the address.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

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

static void check_jit(char *text)
{
	struct jit_names names;

	FUZZ_ASSERT(jit_parse(&names, text), "no %s", "names");
	for (size_t i = 0; i < names.n; i++) {
		const struct jit_name *name = &names.list[i];

		FUZZ_ASSERT(name->start < name->end, "name %zu", i);
		FUZZ_ASSERT(i == 0 || name[-1].start <= name->start, "name %zu", i);
		FUZZ_ASSERT(jit_find(&names, name->start), "name %zu", i);
		FUZZ_ASSERT(
		    jit_find(&names, name->end - 1) || i + 1 < names.n, "name %zu", i);
	}
	FUZZ_ASSERT(names.n == 0 || !jit_find(&names, names.list[0].start - 1) ||
			names.list[0].start == 0,
	    "a name below %s", "all");
	jit_free(&names);
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
	check_jit(text_of(data, size));
	check_table(data, size);
	return 0;
}
