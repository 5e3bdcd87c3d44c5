/* SPDX-License-Identifier: MIT */
/* Applies corrections to the table of an FDE. */
#include "gen/rows/corrections.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

/* The first correction that ends above pc. */
static size_t corrections_from(const struct corrections *corrections, uint64_t pc)
{
	return search_list_above(corrections->list, corrections->n, end, pc);
}

bool corrections_touch(
    const struct corrections *corrections, uint64_t start, uint64_t end)
{
	size_t i;

	if (!corrections || !corrections->n)
		return false;
	i = corrections_from(corrections, start);
	return i < corrections->n && corrections->list[i].start < end;
}

uint64_t corrections_bytes(
    const struct corrections *corrections, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;

	for (size_t i = corrections ? corrections_from(corrections, start) : 0;
	     corrections && i < corrections->n && corrections->list[i].start < end; i++) {
		const struct correction *one = &corrections->list[i];
		const uint64_t from = one->start > start ? one->start : start;

		if (!one->row.doubtful)
			bytes += (one->end < end ? one->end : end) - from;
	}
	return bytes;
}

/* Appends row from pc on, unless the row before is the same or begins at pc, too. */
static bool corrected_add(struct cfi_table *table, const struct cfi_row *row, uint64_t pc)
{
	struct cfi_row *last = table->n_rows ? &table->rows[table->n_rows - 1] : NULL;

	if (last && last->pc == pc)
		table->n_rows--;
	last = table->n_rows ? &table->rows[table->n_rows - 1] : NULL;
	if (last && cfi_row_same(last, row))
		return true;
	if (!vec_reserve(&table->rows, &table->cap_rows, table->n_rows + 1))
		return false;
	table->rows[table->n_rows] = *row;
	table->rows[table->n_rows++].pc = pc;
	return true;
}

const struct cfi_table *corrections_apply(const struct corrections *corrections,
    const struct cfi_table *table, struct cfi_table *corrected)
{
	size_t next = 0;

	if (!corrections_touch(corrections, table->start, table->end))
		return table;
	corrected->start = table->start;
	corrected->end = table->end;
	corrected->n_rows = 0;
	corrected->pc_dependent = table->pc_dependent;
	corrected->pc_dependent_from = table->pc_dependent_from;
	/* Other code with the same CFI may be right, so the result must not be moved to it. */
	corrected->movable = false;
	corrected->reach = table->reach;
	for (size_t i = corrections_from(corrections, table->start);
	     i < corrections->n && corrections->list[i].start < table->end; i++) {
		const struct correction *correction = &corrections->list[i];
		/* The last instruction of the function in front may reach into this one. */
		uint64_t from =
		    correction->start > table->start ? correction->start : table->start;

		for (; next < table->n_rows && table->rows[next].pc <= correction->start;
		     next++)
			if (!corrected_add(
				corrected, &table->rows[next], table->rows[next].pc))
				return NULL;
		if (!corrected_add(corrected, &correction->row, from))
			return NULL;
		/* Rows that begin inside of the correction are dropped, but the last one holds behind it. */
		while (next < table->n_rows && table->rows[next].pc <= correction->end)
			next++;
		if (correction->end < table->end && next > 0 &&
		    !corrected_add(corrected, &table->rows[next - 1], correction->end))
			return NULL;
	}
	for (; next < table->n_rows; next++)
		if (!corrected_add(corrected, &table->rows[next], table->rows[next].pc))
			return NULL;
	return corrected;
}

void corrections_deinit(struct corrections *corrections)
{
	free(corrections->list);
	*corrections = (struct corrections){0};
}
