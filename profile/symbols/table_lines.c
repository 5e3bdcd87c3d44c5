/* SPDX-License-Identifier: MIT */
/* Tables of names that are text: the kernel's, and those of compilers at run time. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names/lines.h"
#include "profile/symbols/naming_table.h"

bool table_read_lines(char *text, bool kernel, struct table *table, struct err *err)
{
	struct line_function function;

	for (char *line; (line = lines_next(&text));) {
		struct symbol symbol = {0};

		if (!(kernel ? lines_kernel : lines_map)(line, &function))
			continue;
		symbol.addr = function.start;
		symbol.size = function.size;
		symbol.name = function.name;
		symbol.rank = symbol_rank(STT_FUNC, STB_GLOBAL, function.size);
		if (!symbols_add(&table->symbols, &symbol))
			return err_set_nomem(err);
	}
	symbols_sort(&table->symbols);
	return true;
}

static bool table_read_path(
    const char *path, bool kernel, struct table *table, struct err *err)
{
	char *text;
	size_t size;

	if (!lines_read(path, &text, &size, err))
		return false;
	if (!text)
		return true;
	table->text = text;
	return table_read_lines(text, kernel, table, err);
}

bool table_read_kernel(struct table *table, struct err *err)
{
	return table_read_path("/proc/kallsyms", true, table, err);
}

bool table_read_jit(uint32_t pid, struct table *table, struct err *err)
{
	uint32_t inner;
	char path[128];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	if (!table_read_path(path, false, table, err))
		return false;
	if (table->text)
		return true;
	if (!lines_inner_pid(pid, &inner, err))
		return false;
	snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, inner);
	return table_read_path(path, false, table, err);
}
