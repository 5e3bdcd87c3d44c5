/* SPDX-License-Identifier: MIT */
#include "profile/record/names.h"

#include <stdlib.h>

#include "base/vec.h"

/* Of all processes: a compiler that never stops must not fill the memory, nor a host of many containers. */
enum { NAMES_MAX_SEEN = 1 << 20, NAMES_MAX_HOMES = 128, NAMES_MAX_SYMBOLS = 1 << 24 };

static struct jit_home *names_home(struct names *names, uint32_t pid)
{
	for (size_t i = 0; i < names->n_homes; i++)
		if (names->homes[i].pid == pid)
			return &names->homes[i];
	return NULL;
}

/* The table of a file, which is made of its bytes once. NULL: none. */
static struct table *names_table(struct names *names, struct unwinder_file *file)
{
	const struct naming_options options = {0};
	const struct profile_module module = {.path = file->path,
	    .image = file->rows->bytes,
	    .image_size = file->rows->n_bytes};
	struct table *table;
	struct err err;

	for (size_t i = names->n_files; i-- > 0;)
		if (names->files[i].serial == file->serial)
			return &names->files[i].table;
	if (!module.image || names->n_symbols >= NAMES_MAX_SYMBOLS ||
	    !vec_reserve(&names->files, &names->cap_files, names->n_files + 1))
		return NULL;
	names->files[names->n_files] = (struct names_file){.serial = file->serial};
	table = &names->files[names->n_files++].table;
	if (!table_read_module(&module, &options, table, &err))
		table_free(table);
	/* It reads from the bytes, which go now. */
	eh2sframe_close(table->file);
	table->file = NULL;
	rows_forget_bytes(file->rows);
	names->n_symbols += table->symbols.n;
	return table;
}

void names_note(struct names *names, struct unwinder_file *file, uint64_t address,
    const struct names_seen *seen)
{
	const struct symbol *symbol;
	struct table *table;

	if (file) {
		table = names_table(names, file);
		symbol = table ? symbols_find(
				     &table->symbols, address - seen->is_return_address)
			       : NULL;
		if (symbol)
			perfdata_put_name(
			    names->writer, seen->pid, seen->pc, symbol->name);
		return;
	}
	if (names->n == NAMES_MAX_SEEN ||
	    !vec_reserve(&names->list, &names->cap, names->n + 1))
		return;
	if (names->n_homes < NAMES_MAX_HOMES && !names_home(names, seen->pid) &&
	    vec_reserve(&names->homes, &names->cap_homes, names->n_homes + 1))
		jit_home_open(&names->homes[names->n_homes++], seen->pid);
	names->list[names->n++] = *seen;
}

void names_of_process(struct names *names, uint32_t pid)
{
	struct jit_home *home = names_home(names, pid);
	struct jit_names found = {0};
	size_t kept = 0;

	if (!home)
		return;
	if (!jit_read(&found, home))
		found = (struct jit_names){0};
	for (size_t i = 0; i < names->n; i++) {
		const struct names_seen *seen = &names->list[i];
		const char *name;

		if (seen->pid != pid) {
			names->list[kept++] = *seen;
			continue;
		}
		name = jit_find(&found, seen->pc - seen->is_return_address);
		if (name)
			perfdata_put_name(names->writer, pid, seen->pc, name);
	}
	names->n = kept;
	jit_free(&found);
	jit_home_close(home);
	*home = names->homes[--names->n_homes];
}

void names_end(struct names *names)
{
	while (names->n_homes)
		names_of_process(names, names->homes[0].pid);
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n_homes; i++)
		jit_home_close(&names->homes[i]);
	for (size_t i = 0; i < names->n_files; i++)
		table_free(&names->files[i].table);
	free(names->homes);
	free(names->files);
	free(names->list);
	*names = (struct names){0};
}
