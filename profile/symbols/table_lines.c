/* SPDX-License-Identifier: MIT */
/* Names that are text: the kernel's, and those of compilers at run time. */
#include <elf.h>
#include <string.h>

#include "base/names/lines.h"
#include "profile/owner.h"
#include "profile/symbols/naming_table.h"

bool table_read_kernel(
    const char *path, uint64_t begin, struct table *table, struct err *err)
{
	struct line_function function;
	bool same = false;
	size_t size;
	char *text;

	if (!lines_read(path, &table->text, &size, err))
		return false;
	text = table->text;
	for (char *line; (line = lines_next(&text));) {
		struct symbol symbol = {0};

		if (!lines_kernel(line, &function))
			continue;
		same |= function.start == begin && strcmp(function.name, "_text") == 0;
		symbol.addr = function.start;
		symbol.size = function.size;
		symbol.name = function.name;
		symbol.rank = symbol_rank(STT_FUNC, STB_GLOBAL, function.size);
		if (!symbols_add(&table->symbols, &symbol))
			return err_set_nomem(err);
	}
	symbols_sort(&table->symbols);
	if (!same && begin)
		table_free(table);
	return true;
}

bool table_ask(uint32_t pid, const uint64_t *addresses, size_t n, uint64_t *ns,
    struct apart_answer *answer, struct err *err)
{
	struct jit_home home;
	struct err why;
	bool ok;

	jit_home_open(&home, pid, owner_of(pid).user);
	ok = jit_ask(&home, addresses, n, answer, &why) || why.kind != ERR_NOMEM ||
	     err_set_nomem(err);
	jit_home_close(&home);
	*ns += answer->ns;
	return ok;
}
