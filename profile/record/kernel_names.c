/* SPDX-License-Identifier: MIT */
#include "profile/record/kernel_names.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/search.h"
#include "base/vec.h"
#include "base/names/lines.h"

#define KERNEL_NAME "[kernel]"

static void kernel_names_read(struct kernel_names *names)
{
	size_t size, cap = 0;
	struct line_function function;
	struct err err = {0};
	char *rest;

	names->tried = true;
	/* Without memory they are not named. */
	if (!lines_read("/proc/kallsyms", &names->text, &size, &err))
		return;
	rest = names->text;
	for (char *line; (line = lines_next(&rest));) {
		if (!lines_kernel(line, &function))
			continue;
		if (!vec_reserve(&names->list, &cap, names->n + 1))
			break;
		names->list[names->n++] = (struct kernel_name){function.start,
		    function.name, function.module ? function.module : KERNEL_NAME};
	}
	if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), search_order);
}

void kernel_names_find(
    void *context, uint64_t address, const char **name, const char **module)
{
	struct kernel_names *names = context;
	size_t i;

	if (!names->tried)
		kernel_names_read(names);
	i = search_list_above(names->list, names->n, address, address);
	*name = i ? names->list[i - 1].name : NULL;
	*module = i ? names->list[i - 1].module : KERNEL_NAME;
}

void kernel_names_free(struct kernel_names *names)
{
	free(names->text);
	free(names->list);
	*names = (struct kernel_names){0};
}
