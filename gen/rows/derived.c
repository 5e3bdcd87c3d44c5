/* SPDX-License-Identifier: MIT */
/* Turns derived rows into functions of the model. */
#include "gen/rows/derived.h"

#include <stdlib.h>

#include "base/vec.h"
#include "gen/rows/reduce.h"

bool derived_add(
    struct derived *derived, uint64_t start, uint64_t end, const struct cfi_row *row)
{
	struct derived_row *last = derived->n ? &derived->list[derived->n - 1] : NULL;

	if (last && last->end == start && cfi_row_same(&last->row, row)) {
		last->end = end;
		return true;
	}
	if (!vec_reserve(&derived->list, &derived->cap, derived->n + 1))
		return false;
	derived->list[derived->n++] = (struct derived_row){start, end, *row};
	return true;
}

void derived_deinit(struct derived *derived)
{
	free(derived->list);
	*derived = (struct derived){0};
}

static bool derived_refused(void *context, enum refusal why, uint64_t start, uint64_t end,
    const struct cfi_row *row)
{
	uint64_t *refused = context;

	(void)why;
	(void)row;
	*refused += end - start;
	return true;
}

/* Longer stretches are several functions: an index entry counts bytes in 32 bits. */
#define DERIVED_MAX_STRETCH UINT64_C(0x40000000)

bool derived_reduce(const struct derived *derived, const struct target *target,
    struct sf_section *section, uint64_t *bytes)
{
	uint64_t refused = 0;
	const struct reduce_sink reduce = {derived_refused, &refused};
	struct cfi_table table = {0};
	bool ok = true;

	*bytes = 0;
	for (size_t i = 0, end; ok && derived && i < derived->n; i = end) {
		table.start = derived->list[i].start;
		table.n_rows = 0;
		for (end = i;
		     ok && end < derived->n &&
		     (end == i || (derived->list[end].start == table.end &&
				      table.end - table.start < DERIVED_MAX_STRETCH));
		     end++) {
			ok = vec_reserve(&table.rows, &table.cap_rows, table.n_rows + 1);
			if (!ok)
				break;
			table.rows[table.n_rows] = derived->list[end].row;
			table.rows[table.n_rows++].pc = derived->list[end].start;
			table.end = derived->list[end].end;
		}
		*bytes += table.end - table.start;
		ok = ok && reduce_table(
			       target, &table, table.start, table.end, &reduce, section);
	}
	*bytes -= refused;
	free(table.rows);
	return ok;
}
