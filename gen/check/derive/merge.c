/* SPDX-License-Identifier: MIT */
/* Keeps one cell for each byte, in which the entries' rows meet. */
#include "gen/check/derive/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

/* Bits of a cell: an entry says DERIVE_GOOD, or DERIVE_BAD; an entry that was not
 * followed to its end leads there. The rest is a row's index plus 1. */
#define CELL_GOOD (UINT32_C(1) << 31)
#define CELL_BAD (UINT32_C(1) << 30)
#define CELL_LED (UINT32_C(1) << 29)
/* A jump whose target is not known may lead to any of the code from here to the next entry. */
#define CELL_AROUND (UINT32_C(1) << 28)
#define CELL_ROW (CELL_AROUND - 1)

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
	return merge->first && merge->cells;
}

void derive_merge_deinit(struct derive_merge *merge)
{
	free(merge->first);
	free(merge->cells);
	free(merge->lost);
	free(merge->rows);
}

static void merge_stretch(struct derive_merge *merge, const struct derive_gap *gap,
    const struct derive_stretch *stretch, size_t first_row)
{
	uint32_t *cells = &merge->cells[merge->first[gap - merge->gaps->list]];
	const uint32_t row = (uint32_t)(first_row + stretch->row + 1);

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
	    !vec_reserve(&merge->rows, &merge->cap_rows, first + walker->n_rows + 1) ||
	    !vec_reserve(&merge->lost, &merge->cap_lost, merge->n_lost + walker->n_lost))
		return false;
	if (walker->n_lost)
		memcpy(&merge->lost[merge->n_lost], walker->lost,
		    walker->n_lost * sizeof(*walker->lost));
	merge->n_lost += walker->n_lost;
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
	walker->n_rows = walker->n_stretches = walker->n_lost = 0;
	return true;
}

/* ---- what is not followed ---- */

/* Doubts all code around a jump whose target is not known, up to the next entries. */
static void lead_around(struct derive_merge *merge, const struct derive_entries *entries,
    const struct derive_gap *gap, uint64_t pc)
{
	const size_t i = search_list_above(entries->list, entries->n, addr, pc);
	uint32_t *cells = &merge->cells[merge->first[gap - merge->gaps->list]];
	uint64_t start = gap->start, end = gap->end;

	if (i && entries->list[i - 1].addr > start)
		start = entries->list[i - 1].addr;
	if (i < entries->n && entries->list[i].addr < end)
		end = entries->list[i].addr;
	if (cells[start - gap->start] & CELL_AROUND)
		return;
	cells[start - gap->start] |= CELL_AROUND;
	for (pc = start; pc < end; pc++)
		cells[pc - gap->start] |= CELL_BAD;
}

/* True if the call may be the last instruction of its function. */
static bool lead_may_end(
    const struct derive_entries *entries, const struct code_insn *insn)
{
	const struct derive_entry *callee =
	    insn->control == CODE_CALLS ? derive_entry_at(entries, insn->target) : NULL;

	return (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO) &&
	       !(callee && callee->summary.effect.how >= CALLEE_RETURNS);
}

/* True if the system call at pc gives a signal's context back, by the number that the instruction before gives it. */
static bool lead_gives_back(const struct derive_gap *gap, enum code_machine machine,
    uint64_t before, const struct code_insn *insn)
{
	struct code_state state;
	struct code_insn number;

	if (!insn->system || before < gap->start ||
	    !code_insn_read(machine, gap->bytes + (before - gap->start),
		gap->end - before, before, &number))
		return false;
	code_state_unknown(&state);
	code_state_step(&state, code_abi(machine), before, &number);
	return code_state_gives_back(&state, code_abi(machine), insn);
}

/* Doubts the code at pc, and notes where else control goes from it, up to where it does not go on. */
static bool lead_on(struct derive_merge *merge, const struct derive_entries *entries,
    enum code_machine machine, uint64_t pc)
{
	const struct derive_gap *gap;
	struct code_insn insn;
	bool may_end = false;
	uint64_t before = pc;

	for (; (gap = derive_gap_at(merge->gaps, pc)); before = pc, pc += insn.length) {
		uint32_t *cell = &merge->cells[merge->first[gap - merge->gaps->list] +
					       (pc - gap->start)];

		if (*cell & CELL_LED || (may_end && derive_entry_at(entries, pc)))
			return true;
		if (!code_insn_read(machine, gap->bytes + (pc - gap->start),
			gap->end - pc, pc, &insn))
			return true;
		for (uint8_t i = 0; i < insn.length; i++)
			cell[i] |= CELL_BAD;
		/* Another way may come here with another number. */
		if (lead_gives_back(gap, machine, before, &insn))
			return true;
		*cell |= CELL_LED;
		if (insn.control == CODE_JUMPS || insn.control == CODE_BRANCHES) {
			if (!vec_reserve(
				&merge->lost, &merge->cap_lost, merge->n_lost + 1))
				return false;
			merge->lost[merge->n_lost++] = insn.target;
		}
		if (insn.control == CODE_JUMPS_TO || insn.control == CODE_BRANCHES_TO)
			lead_around(merge, entries, gap, pc);
		if (code_insn_ends(&insn))
			return true;
		may_end = lead_may_end(entries, &insn) || (may_end && insn.filler);
	}
	return true;
}

bool derive_merge_lost(struct derive_merge *merge, const struct derive_entries *entries,
    enum code_machine machine)
{
	while (merge->n_lost)
		if (!lead_on(merge, entries, machine, merge->lost[--merge->n_lost]))
			return false;
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
