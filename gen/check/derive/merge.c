/* SPDX-License-Identifier: MIT */
#include "gen/check/derive/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Bits of a cell: somebody says DERIVE_GOOD, or DERIVE_BAD; the rest is a row's index plus 1. */
#define CELL_GOOD (UINT32_C(1) << 31)
#define CELL_BAD (UINT32_C(1) << 30)
#define CELL_ROW (CELL_BAD - 1)

bool derive_merge_init(struct derive_merge *merge, const struct derive_gaps *gaps)
{
	size_t n = 0;

	merge->gaps = gaps;
	merge->first = calloc(gaps->n + 1, sizeof(*merge->first));
	for (size_t i = 0; merge->first && i < gaps->n; i++) {
		merge->first[i] = n;
		n += (size_t)(gaps->list[i].end - gaps->list[i].start);
	}
	merge->cells = calloc(n + 1, sizeof(*merge->cells));
	merge->doubted = calloc(gaps->n + 1, sizeof(*merge->doubted));
	return merge->first && merge->cells && merge->doubted;
}

void derive_merge_deinit(struct derive_merge *merge)
{
	free(merge->first);
	free(merge->cells);
	free(merge->doubted);
	free(merge->rows);
}

static void merge_stretch(struct derive_merge *merge, const struct derive_gap *gap,
    const struct derive_stretch *stretch, size_t first_row)
{
	const size_t index = (size_t)(gap - merge->gaps->list);
	uint32_t *cells = &merge->cells[merge->first[index]];
	const uint32_t row = (uint32_t)(first_row + stretch->row + 1);

	/* Any number of entries may doubt all of it, and nothing takes that back. */
	if (merge->doubted[index])
		return;
	merge->doubted[index] = stretch->flags & DERIVE_BAD &&
				stretch->start == gap->start && stretch->end == gap->end;
	for (uint64_t pc = stretch->start; pc < stretch->end && pc < gap->end; pc++) {
		uint32_t *cell = &cells[pc - gap->start];

		if (stretch->flags & DERIVE_BAD) {
			*cell |= CELL_BAD;
			continue;
		}
		if (!(*cell & CELL_ROW))
			*cell |= row;
		else if (!cfi_row_same(
			     &merge->rows[(*cell & CELL_ROW) - 1], &merge->rows[row - 1]))
			*cell |= CELL_BAD;
		if (stretch->flags & DERIVE_GOOD)
			*cell |= CELL_GOOD;
	}
}

bool derive_merge_take(struct derive_merge *merge, struct derive_walker *walker)
{
	const size_t first = merge->n_rows;

	if (first + walker->n_rows >= CELL_ROW ||
	    !vec_reserve(&merge->rows, &merge->cap_rows, first + walker->n_rows + 1))
		return false;
	if (walker->n_rows)
		memcpy(&merge->rows[first], walker->rows,
		    walker->n_rows * sizeof(*walker->rows));
	merge->n_rows += walker->n_rows;
	for (size_t i = 0; i < walker->n_stretches; i++) {
		struct derive_stretch stretch = walker->stretches[i];
		const struct derive_gap *gap;

		/* One gap can begin where another one ends, and a stretch go on from it. */
		while (stretch.start < stretch.end &&
		       (gap = derive_gap_at(merge->gaps, stretch.start))) {
			merge_stretch(merge, gap, &stretch, first);
			stretch.start = gap->end;
		}
	}
	walker->n_rows = walker->n_stretches = 0;
	return true;
}

bool derive_merge_rows(const struct derive_merge *merge, struct derived *rows)
{
	for (size_t i = 0; i < merge->gaps->n; i++) {
		const struct derive_gap *gap = &merge->gaps->list[i];

		for (uint64_t pc = gap->start; pc < gap->end; pc++) {
			const uint32_t cell =
			    merge->cells[merge->first[i] + (pc - gap->start)];

			if ((cell & (CELL_GOOD | CELL_BAD)) == CELL_GOOD &&
			    !derived_add(
				rows, pc, pc + 1, &merge->rows[(cell & CELL_ROW) - 1]))
				return false;
		}
	}
	return true;
}
