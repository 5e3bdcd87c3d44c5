/* SPDX-License-Identifier: MIT */
#include "profile/stacks/file_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wr.h"
#include "include/eh2sframe.h"
#include "profile/symbols/naming.h"
#include "profile/symbols/naming_table.h"

/* Seconds of processor time: libLLVM takes one. */
enum { ROWS_SECONDS = 10 };

void rows_free(struct rows *rows)
{
	symbols_deinit(&rows->symbols);
	free(rows->names);
	free(rows->section);
	free(rows->extra);
	*rows = (struct rows){0};
}

bool facts_address(const struct facts *facts, uint64_t offset, uint64_t *address)
{
	const struct facts_part *found = NULL;

	/* A mapping starts and ends with a page, a part anywhere; parts can share a page. */
	for (size_t i = 0; i < facts->n_parts; i++) {
		const struct facts_part *part = &facts->parts[i];

		if (offset - part->offset < part->size) {
			found = part;
			break;
		}
		if (!found && part->size > 0 &&
		    offset >= (part->offset & ~UINT64_C(0xfff)) &&
		    offset <= ((part->offset + part->size - 1) | UINT64_C(0xfff)))
			found = part;
	}
	if (found)
		*address = found->address + (offset - found->offset);
	return found;
}

/* Finds the function that begins at the entry. */
static bool rows_entry(void *context, const struct eh2sframe_symbol *function)
{
	struct facts *facts = context;

	if (function->start == facts->entry)
		facts->entry_size = function->size;
	return function->start < facts->entry;
}

/* A file without CFI is right, and has no rows. */
static bool rows_convert(const struct eh2sframe_file *file, const char *path,
    struct rows *rows, struct err *err)
{
	struct eh2sframe_walk_module made = {.struct_size = sizeof(made)};
	struct eh2sframe_error why;

	if (rows->facts.entry &&
	    !eh2sframe_file_functions(
		file, EH2SFRAME_ORIGIN_EH_FRAME, rows_entry, &rows->facts, &why) &&
	    why.status == EH2SFRAME_NO_MEMORY)
		return err_set_nomem(err);
	if (eh2sframe_rows(file, &made, &why)) {
		/* Both are this program's to free. */
		rows->section = (uint8_t *)(uintptr_t)made.bytes;
		rows->size = made.size;
		rows->address = made.address;
		rows->extra = (struct eh2sframe_extra *)(uintptr_t)made.extra;
		rows->n_extra = made.n_extra;
		return true;
	}
	return why.status == EH2SFRAME_NOTHING ||
	       err_set(err,
		   why.status == EH2SFRAME_NO_MEMORY ? ERR_NOMEM : ERR_UNSUPPORTED,
		   "%s: %.480s", path, why.text);
}

/* Adds a symbol, whose name comes behind the others. Until all are there, names are where they begin. */
static bool rows_name_add(
    struct rows *rows, struct wr *text, struct symbol symbol, const char *name)
{
	symbol.name = (char *)(uintptr_t)text->size;
	wr_bytes(text, name, strlen(name) + 1);
	return symbols_add(&rows->symbols, &symbol);
}

/* Takes the names of a file. Of a function that has none, it is the start, as everywhere. */
static bool rows_names(
    struct eh2sframe_file *file, const char *path, struct rows *rows, struct err *err)
{
	struct table table = {.file = file};
	bool ok = table_read_file(&table, err) && table_read_starts(&table, err);
	struct wr text;

	wr_init(&text, false);
	for (size_t i = 0; ok && i < table.symbols.n; i++) {
		/* Those of one address stay in their order. */
		table.symbols.list[i].rank = (uint32_t)(table.symbols.n - i);
		ok = rows_name_add(
		    rows, &text, table.symbols.list[i], table.symbols.list[i].name);
	}
	for (size_t i = 0; ok && i < table.starts.n; i++) {
		const struct symbol *start = &table.starts.list[i];
		char name[256];

		snprintf(name, sizeof(name), "%.200s+0x%" PRIx64, naming_base(path),
		    start->addr);
		ok = symbols_find(&table.symbols, start->addr) ||
		     rows_name_add(rows, &text, *start, name);
	}
	ok = (ok && !text.failed) || err_set_nomem(err);
	rows->names = (char *)text.data;
	rows->n_names = text.size;
	for (size_t i = 0; i < rows->symbols.n; i++)
		rows->symbols.list[i].name =
		    rows->names + (uintptr_t)rows->symbols.list[i].name;
	symbols_sort(&rows->symbols);
	table.file = NULL;
	table_free(&table);
	return ok;
}

bool rows_make_here(const struct rows_file *file,
    const struct rows_place places[ROWS_PLACES], struct rows *rows, struct err *err)
{
	struct eh2sframe_file *opened = rows_find(file, places, rows, err);
	bool ok =
	    opened && (file->facts_only || rows_convert(opened, file->path, rows, err));

	if (ok && file->live && !file->facts_only && rows->keeps_names)
		ok = rows_names(opened, file->path, rows, err);
	eh2sframe_close(opened);
	return ok;
}

/* Counts what is kept for an owner. */
static bool rows_count(
    struct rows_made *made, const struct owner *owner, struct rows *rows, struct err *err)
{
	uint64_t bytes = sizeof(*rows) + rows->size +
			 rows->n_extra * sizeof(*rows->extra) +
			 rows->symbols.n * sizeof(*rows->symbols.list) + rows->n_names;
	const struct rows kept = {.facts = rows->facts, .keeps_names = rows->keeps_names};

	if (!owner->is_own && !spent_take(&made->apart, owner, bytes)) {
		made->is_full = true;
		rows_free(rows);
		*rows = kept;
		return err_set(
		    err, ERR_LIMIT, "the rows of its owner's files take too much memory");
	}
	rows->place = owner->is_own ? OWNERS : owner->place;
	rows->bytes = bytes;
	made->own += owner->is_own ? bytes : 0;
	return true;
}

void rows_drop(struct rows_made *made, struct rows *rows)
{
	if (rows->place == OWNERS)
		made->own -= rows->bytes;
	else
		spent_give(&made->apart, rows->place, rows->bytes);
	rows_free(rows);
}

/* Reads here what root or this user wrote at its path here. For all else, whoever maps it answers. */
static bool rows_make_live(struct rows_made *made, const struct rows_file *file,
    struct rows *rows, struct err *err)
{
	const struct apart_limits limits = {
	    .memory = UINT64_C(4) << 30, .seconds = ROWS_SECONDS};
	struct rows_place places[ROWS_PLACES];
	struct spent_work work;
	struct owner owner = {.is_own = true};
	bool ok;

	if (file->is_own && rows_places_open_own(file, places)) {
		ok = rows_make_here(file, places, rows, err);
		rows_places_close(places);
		/* Else it is another file. */
		if (ok || err->kind != ERR_IO)
			return ok && rows_count(made, &owner, rows, err);
	}
	/* A stranger's process must not say what the file is to one's own, nor one that has become a stranger's. */
	owner = file->is_own ? owner_of(file->pid) : file->owner;
	if (file->is_own && (!file->owner.is_own || (owner.is_known && !owner.is_own)))
		return err_set(
		    err, ERR_IO, "%s: the file that was mapped is gone", file->path);
	if (!spent_may(&made->apart, &owner))
		return err_set(err, ERR_LIMIT,
		    "%s: other files of its owner have taken too long to convert",
		    file->path);
	ok = rows_make_apart(file, &limits, rows, &work, err);
	spent_add(&made->apart, &owner, &work);
	return ok && rows_count(made, &owner, rows, err);
}

bool rows_make(struct rows_made *made, const struct rows_file *file, struct rows *rows,
    struct err *err)
{
	struct rows_place places[ROWS_PLACES];
	uint64_t start = spent_now();
	bool ok;

	*rows = (struct rows){0};
	if (file->live && !file->image) {
		ok = rows_make_live(made, file, rows, err);
	} else {
		rows_places_open(file, places);
		ok = rows_make_here(file, places, rows, err);
		rows_places_close(places);
	}
	if (rows->facts.n_parts == 0)
		rows->keeps_names = true;
	made->n += ok && !file->facts_only;
	made->ns += spent_now() - start;
	return ok;
}
