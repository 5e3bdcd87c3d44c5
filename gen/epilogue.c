/* SPDX-License-Identifier: MIT */
/* Knows epilogues by the bytes of their instructions. */
#include "gen/epilogue.h"

#include "gen/reduce.h"

/* The instruction of the machine's list that code begins with, or NULL. */
static const struct arch_epilogue *epilogue_at(
	const struct arch *arch, const uint8_t *code, uint64_t size)
{
	for (size_t i = 0; i < arch->n_epilogues; i++) {
		const struct arch_epilogue *insn = &arch->epilogues[i];
		bool same = insn->size <= size;

		for (uint8_t j = 0; same && j < insn->size; j++)
			same = (code[j] & insn->mask[j]) == insn->code[j];
		if (same)
			return insn;
	}
	return NULL;
}

/* Whether [start, end) has no instruction that is not of the list; *leaves is set when
 * one of them leaves the function. */
static bool epilogue_only(const struct image *image, const struct arch *arch,
	uint64_t start, uint64_t end, bool *leaves)
{
	const uint8_t *code = image_at_addr(image, start, end - start);

	while (code && start < end) {
		const struct arch_epilogue *insn = epilogue_at(arch, code, end - start);

		if (!insn)
			return false;
		*leaves |= insn->leaves;
		code += insn->size;
		start += insn->size;
	}
	return code;
}

static uint64_t epilogue_row_end(const struct cfi_table *table, size_t i)
{
	return i < table->n_rows ? table->rows[i].pc : table->end;
}

/* The end of the run of rows from number i on, all of one epilogue; i when there is none.
 */
static size_t epilogue_run(const struct image *image, const struct arch *arch,
	const struct cfi_table *table, size_t i)
{
	size_t last = i;
	bool leaves = false;

	while (i < table->n_rows && epilogue_only(image, arch, table->rows[i].pc,
					    epilogue_row_end(table, i + 1), &leaves)) {
		i++;
		if (leaves)
			last = i;
	}
	return last;
}

uint64_t epilogue_drop(
	const struct image *image, const struct target *target, struct cfi_table *table)
{
	uint64_t dropped = 0;
	size_t n = 0, end;
	struct sf_row said;

	/* From here on it takes more than the same instructions to have the same rows. */
	table->movable = false;
	if (table->pc_dependent)
		return 0;
	for (size_t i = 0; i < table->n_rows; i = end) {
		const struct cfi_row *row = &table->rows[i];

		end = n ? epilogue_run(image, target->arch, table, i) : i;
		if (end > i && reduce_row(target, &table->rows[n - 1], &said) ==
				       REFUSE_NOTHING) {
			dropped += epilogue_row_end(table, end) - row->pc;
			continue;
		}
		/* What follows an epilogue often goes on as before it. */
		if (n == 0 || !cfi_row_same(&table->rows[n - 1], row))
			table->rows[n++] = *row;
		end = i + 1;
	}
	table->n_rows = n;
	return dropped;
}
