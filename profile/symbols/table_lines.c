/* SPDX-License-Identifier: MIT */
/* Tables of names that are text: the kernel's, and those of compilers at run time. */
#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/names/lines.h"
#include "profile/jit.h"
#include "profile/owner.h"
#include "profile/symbols/naming_table.h"

bool table_read_kernel(const char *path, struct table *table, struct err *err)
{
	struct line_function function;
	size_t size;
	char *text;

	if (!lines_read(path, &table->text, &size, err))
		return false;
	text = table->text;
	for (char *line; (line = lines_next(&text));) {
		struct symbol symbol = {0};

		if (!lines_kernel(line, &function))
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

bool table_read_jit(uint32_t pid, struct table *table, struct err *err)
{
	struct jit_names names;
	struct jit_home home;
	bool ok = true;
	int fd;

	jit_home_open(&home, pid, owner_of(pid).user);
	fd = jit_open(&home);
	if (!jit_read(&names, fd))
		names = (struct jit_names){0};
	if (fd >= 0)
		close(fd);
	jit_home_close(&home);
	for (size_t i = 0; ok && i < names.n; i++) {
		const struct symbol symbol = {.addr = names.list[i].start,
		    .size = names.list[i].end - names.list[i].start,
		    .name = names.list[i].name,
		    .rank = symbol_rank(STT_FUNC, STB_GLOBAL, 1)};

		ok = symbols_add(&table->symbols, &symbol);
	}
	table->text = names.text;
	free(names.list);
	if (!ok)
		return err_set_nomem(err);
	symbols_sort(&table->symbols);
	return true;
}
