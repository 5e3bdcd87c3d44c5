/* SPDX-License-Identifier: MIT */
#include "profile/symbols/naming_table.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wr.h"
#include "base/names/lines.h"

/* The library reads no longer ones; a file that is written to meanwhile can lose the end of a name. */
#define MAX_NAME 65536

bool naming_debug_path(const char *const *dirs, size_t n_dirs, size_t i,
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	const char *dir = i < n_dirs ? dirs[i] : getenv("PERF_BUILDID_DIR");
	const char *below = dir ? "" : "/.debug";
	const char *end = i < n_dirs ? ".debug" : i == n_dirs ? "/debug" : "/elf";
	int at;

	if (n < 2 || i > n_dirs + 1)
		return false;
	if (!dir)
		dir = getenv("HOME");
	at = snprintf(path, NAMING_DEBUG_PATH, "%s%s/.build-id/%02x/", dir ? dir : "",
	    below, build_id[0]);
	for (size_t k = 1; k < n && at < NAMING_DEBUG_PATH; k++)
		at += snprintf(
		    path + at, (size_t)(NAMING_DEBUG_PATH - at), "%02x", build_id[k]);
	if (at >= NAMING_DEBUG_PATH ||
	    snprintf(path + at, (size_t)(NAMING_DEBUG_PATH - at), "%s", end) >=
		NAMING_DEBUG_PATH - at)
		*path = '\0';
	return true;
}

bool naming_copy_path(const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH])
{
	return naming_debug_path(NULL, 0, 1, build_id, n, path);
}

/* Closes a file that is not of the module, or NULL. Returns one that is: a file at a path may have been
 * replaced since. */
static struct eh2sframe_file *module_check(
    const struct profile_module *module, struct eh2sframe_file *file)
{
	struct eh2sframe_info info = {.struct_size = sizeof(info)};

	if (file && eh2sframe_file_info(file, &info) &&
	    (!module->build_id_size ||
		(info.build_id && info.build_id_size == module->build_id_size &&
		    memcmp(info.build_id, module->build_id, info.build_id_size) == 0)))
		return file;
	eh2sframe_close(file);
	return NULL;
}

/* True if what failed is that memory ran out. Nothing else keeps names from other files. */
static bool module_failed(const struct eh2sframe_error *why, struct err *err)
{
	return why->status != EH2SFRAME_NO_MEMORY || err_set_nomem(err);
}

/* Opens the file itself: bytes in the recording, what its path leads to now, or perf's copy. NULL: there is
 * none, or no memory. */
static struct eh2sframe_file *module_open(
    const struct profile_module *module, struct eh2sframe_error *why)
{
	struct eh2sframe_file *file = NULL;
	char path[NAMING_DEBUG_PATH];

	if (module->image)
		return eh2sframe_open_memory(
		    module->image, module->image_size, module->path, NULL, why);
	if (*module->path == '/')
		file = module_check(module, eh2sframe_open_path(module->path, NULL, why));
	if (!file && naming_copy_path(module->build_id, module->build_id_size, path))
		file = module_check(module, eh2sframe_open_path(path, NULL, why));
	return file;
}

/* A list that functions are taken into, and their names. Until all are there, names are where they begin, as the text moves. */
struct module_list {
	struct symbols *symbols;
	struct wr text;
	bool plt;
};

static bool module_take(void *context, const struct eh2sframe_symbol *symbol)
{
	struct module_list *list = context;
	/* A piece of a PLT without a name is its header, or goes to an indirect function. */
	const char *name = symbol->name ? symbol->name : list->plt ? ".plt" : "";
	const char *end = list->plt && symbol->name ? "@plt" : "";
	const struct symbol *last =
	    list->symbols->n ? &list->symbols->list[list->symbols->n - 1] : NULL;
	/* Ranks keep the order of those at one address. */
	const struct symbol taken = {.addr = symbol->start,
	    .size = symbol->size,
	    .name = (char *)(uintptr_t)list->text.size,
	    .rank = last && last->addr == symbol->start && last->rank ? last->rank - 1
								      : UINT32_MAX};

	list->symbols->dynamic = symbol->flags & EH2SFRAME_SYMBOL_DYNAMIC;
	/* Copies the name: where it is in the file, somebody may write meanwhile. */
	wr_bytes(&list->text, name, strnlen(name, MAX_NAME));
	wr_bytes(&list->text, end, strlen(end) + 1);
	list->text.failed |= !symbols_add(list->symbols, &taken);
	return !list->text.failed;
}

static bool module_list_add(struct module_list *list, const struct eh2sframe_file *file,
    enum eh2sframe_origin origin, struct err *err)
{
	struct eh2sframe_error why = {.status = EH2SFRAME_DONE};

	list->plt = origin == EH2SFRAME_ORIGIN_PLT;
	return eh2sframe_file_functions(file, origin, module_take, list, &why) ||
	       module_failed(&why, err);
}

/*
 * Takes also the PLTs of code, which is not the same file where that is for debugging, or NULL. The other names come last, and say where
 * they are from. The caller frees their text also after a failure.
 */
static bool module_functions(const struct eh2sframe_file *file,
    const struct eh2sframe_file *code, enum eh2sframe_origin origin,
    struct symbols *symbols, char **text, struct err *err)
{
	struct module_list list = {.symbols = symbols};
	bool ok = !code || module_list_add(&list, code, EH2SFRAME_ORIGIN_PLT, err);

	ok = ok && module_list_add(&list, file, origin, err);
	*text = (char *)list.text.data;
	if (list.text.failed)
		ok = err_set_nomem(err);
	for (size_t i = 0; ok && i < symbols->n; i++)
		symbols->list[i].name = *text + (uintptr_t)symbols->list[i].name;
	if (ok && code)
		symbols_sort(symbols);
	return ok;
}

/* True if the table has the names of .symtab, so that no other file has more. */
static bool module_is_named(const struct table *table)
{
	return table->symbols.n && !table->symbols.dynamic;
}

/* Takes the names of the first separate debug file that has some, in place of those that the table has. */
static bool module_debug(const struct profile_module *module,
    const struct naming_options *options, struct table *table, struct err *err)
{
	char path[NAMING_DEBUG_PATH];
	bool ok = true;

	for (size_t i = 0; ok && !module_is_named(table) &&
			   naming_debug_path(options->debug_dirs, options->n_debug_dirs,
			       i, module->build_id, module->build_id_size, path);
	     i++) {
		struct eh2sframe_error why = {.status = EH2SFRAME_DONE};
		struct table taken = {.file = module_check(
					  module, eh2sframe_open_path(path, NULL, &why))},
			     old = *table;

		ok = taken.file
			 ? module_functions(taken.file, table->file,
			       EH2SFRAME_ORIGIN_SYMBOLS, &taken.symbols, &taken.text, err)
			 : module_failed(&why, err);
		if (ok && module_is_named(&taken)) {
			table->symbols = taken.symbols;
			table->text = taken.text;
			taken.symbols = old.symbols;
			taken.text = old.text;
		}
		table_free(&taken);
	}
	return ok;
}

bool table_read_starts(struct table *table, struct err *err)
{
	if (!table->file || table->starts_known)
		return true;
	table->starts_known = true;
	return module_functions(table->file, NULL, EH2SFRAME_ORIGIN_EH_FRAME,
	    &table->starts, &table->no_names, err);
}

bool table_read_file(struct table *table, struct err *err)
{
	return module_functions(table->file, table->file, EH2SFRAME_ORIGIN_SYMBOLS,
	    &table->symbols, &table->text, err);
}

bool table_read_module(const struct profile_module *module,
    const struct naming_options *options, struct table *table, struct err *err)
{
	struct eh2sframe_error why = {.status = EH2SFRAME_DONE};

	table->file = module_open(module, &why);
	if (table->file ? !table_read_file(table, err) : !module_failed(&why, err))
		return false;
	return module_is_named(table) || module_debug(module, options, table, err);
}

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
		symbol.rank =
		    symbol_rank(function.name, STT_FUNC, STB_GLOBAL, function.size);
		if (!symbols_add(&table->symbols, &symbol))
			return err_set_nomem(err);
	}
	symbols_sort(&table->symbols);
	if (!same && begin)
		table_free(table);
	return true;
}

void table_free(struct table *table)
{
	symbols_deinit(&table->symbols);
	symbols_deinit(&table->starts);
	free(table->text);
	free(table->no_names);
	eh2sframe_close(table->file);
	*table = (struct table){0};
}
