/* SPDX-License-Identifier: MIT */
/* Rows to entries, and the account of what has no words. */
#include "tests/bench/compare/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void formats_table_begin(struct formats_table *table,
    const struct formats_table_kind *kind, const struct formats_machine *machine)
{
	*table = (struct formats_table){.kind = kind, .machine = machine};
	snprintf(table->result.name, sizeof(table->result.name), "%s", kind->name);
	wr_init(&table->bytes, machine->big_endian);
}

static bool table_push(struct formats_table *table, uint64_t pc,
    const struct formats_words *words, bool first)
{
	const struct formats_entry *last =
	    table->n ? &table->entries[table->n - 1] : NULL;

	if (last && !memcmp(&last->words, words, sizeof(*words)) &&
	    (table->kind->joins || !first))
		return true;
	if (!vec_reserve(&table->entries, &table->cap, table->n + 1))
		return false;
	table->entries[table->n++] = (struct formats_entry){pc, *words, first};
	return true;
}

/* The mark behind the last function, unless code follows at once. */
static bool table_gap(struct formats_table *table, uint64_t start)
{
	if (table->n == 0 || start - table->end < table->kind->gap)
		return true;
	return table_push(table, table->end, &table->kind->unknown, true);
}

/* The words for the row that walk stands at; *words is the mark when there are none. */
static enum formats_reason table_words(const struct formats_table *table,
    const struct formats_walk *walk, struct formats_words *words)
{
	const struct formats_func *func = walk->func;
	struct formats_answer answer;
	enum formats_reason why;

	*words = (struct formats_words){0};
	if (func->plt_at && walk->from >= func->plt_from && table->kind->pack_plt &&
	    table->kind->pack_plt(func->plt_at, words))
		return FORMATS_SAID;
	*words = (struct formats_words){0};
	why = formats_answer_read(
	    table->machine, func->signal_frame, &func->table->rows[walk->row], &answer);
	if (why == FORMATS_SAID)
		why = table->kind->pack(func, &answer, words);
	if (why != FORMATS_SAID)
		*words = table->kind->unknown;
	return why;
}

bool formats_table_add(struct formats_table *table, const struct formats_func *func)
{
	struct formats_walk walk = formats_walk_begin(func);
	bool first = true;

	if (table->n == 0)
		table->base = func->start;
	if (table->kind->reach && func->end - table->base > table->kind->reach) {
		formats_result_code(
		    &table->result, FORMATS_FAR_CODE, func->end - func->start);
		return true;
	}
	if (!table_gap(table, func->start))
		return false;
	while (formats_walk_next(&walk)) {
		struct formats_words words;
		enum formats_reason why = table_words(table, &walk, &words);

		formats_result_code(&table->result, why, walk.to - walk.from);
		if (!table_push(table, walk.from, &words, first))
			return false;
		first = false;
	}
	table->end = func->end;
	return true;
}

bool formats_table_end(struct formats_table *table)
{
	if (table->n && !table_push(table, table->end, &table->kind->unknown, true))
		return false;
	if (!table->kind->write(table) || table->bytes.failed)
		return false;
	table->result.bytes = table->bytes.size;
	return true;
}

void formats_table_deinit(struct formats_table *table)
{
	free(table->entries);
	wr_deinit(&table->bytes);
	*table = (struct formats_table){0};
}
