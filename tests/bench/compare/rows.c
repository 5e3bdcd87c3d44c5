/* SPDX-License-Identifier: MIT */
#include "tests/bench/compare/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "tests/bench/compare/unwind.h"

bool formats_saved_same(const struct formats_saved *a, const struct formats_saved *b)
{
	return memcmp(a->at, b->at, sizeof(a->at)) == 0;
}

void formats_rows_init(struct formats_rows *rows, const struct formats_input *input)
{
	struct cfi_machine machine = input->machine.cfi;
	const uint16_t *regs = formats_arm64_saved;

	*rows = (struct formats_rows){0};
	cfi_interp_init(&rows->own, input->frames, &machine);
	if (input->machine.isa == FORMATS_X86_64) {
		regs = formats_x86_64_saved;
		rows->n_regs = sizeof(formats_x86_64_saved) / sizeof(*regs);
	} else if (input->machine.isa == FORMATS_AARCH64) {
		rows->n_regs = sizeof(formats_arm64_saved) / sizeof(*regs);
	}
	for (size_t i = 0; i < rows->n_regs; i += 2) {
		machine.fp_reg = regs[i];
		machine.sp_reg = regs[i + 1 < rows->n_regs ? i + 1 : i];
		cfi_interp_init(&rows->pairs[i / 2], input->frames, &machine);
	}
}

void formats_rows_deinit(struct formats_rows *rows)
{
	cfi_interp_deinit(&rows->own);
	for (size_t i = 0; i < rows->n_regs; i += 2)
		cfi_interp_deinit(&rows->pairs[i / 2]);
	free(rows->table.rows);
	free(rows->saved);
	*rows = (struct formats_rows){0};
}

static int32_t rows_place(const struct cfi_rule *rule)
{
	int32_t at;

	if (rule->kind == CFI_SAME || rule->kind == CFI_UNSPECIFIED)
		return FORMATS_SAVED_NOT;
	return rule->kind == CFI_AT_CFA && rule->off != 0 && num_s32(rule->off, &at)
		   ? at
		   : FORMATS_SAVED_OTHER;
}

/* Returns the row of the table that holds at pc, which is not below that of the last call for it.
 * *next becomes the start of the row after it, if that is nearer. */
static const struct cfi_row *rows_at(
    const struct cfi_table *table, size_t *i, uint64_t pc, uint64_t *next)
{
	while (*i + 1 < table->n_rows && table->rows[*i + 1].pc <= pc)
		++*i;
	if (*i + 1 < table->n_rows && table->rows[*i + 1].pc < *next)
		*next = table->rows[*i + 1].pc;
	return &table->rows[*i];
}

/* Appends a row, unless it says what the one before says. */
static bool rows_push(struct formats_rows *rows, const struct cfi_row *row, uint64_t pc,
    const struct formats_saved *saved)
{
	struct cfi_table *table = &rows->table;
	size_t n = table->n_rows;

	if (n && cfi_row_same(&table->rows[n - 1], row) &&
	    formats_saved_same(&rows->saved[n - 1], saved))
		return true;
	if (!vec_reserve(&table->rows, &table->cap_rows, n + 1) ||
	    !vec_reserve(&rows->saved, &rows->cap_saved, n + 1))
		return false;
	table->rows[n] = *row;
	table->rows[n].pc = pc;
	rows->saved[n] = *saved;
	table->n_rows++;
	return true;
}

/* Joins the tables of all interpreters: a row begins where one of them has one. */
static bool rows_join(struct formats_rows *rows)
{
	const struct cfi_table *own = &rows->own.table;
	size_t own_at = 0, at[FORMATS_MAX_SAVED / 2] = {0};
	uint64_t next;

	rows->table.start = own->start;
	rows->table.end = own->end;
	rows->table.pc_dependent = own->pc_dependent;
	rows->table.pc_dependent_from = own->pc_dependent_from;
	rows->table.n_rows = 0;
	for (uint64_t pc = own->start; pc < own->end; pc = next) {
		struct formats_saved saved = {0};
		const struct cfi_row *row;

		next = own->end;
		row = rows_at(own, &own_at, pc, &next);
		for (size_t i = 0; i < rows->n_regs; i++) {
			const struct cfi_row *pair =
			    rows_at(&rows->pairs[i / 2].table, &at[i / 2], pc, &next);

			saved.at[i] = rows_place(i % 2 ? &pair->sp : &pair->fp);
		}
		if (!rows_push(rows, row, pc, &saved))
			return false;
	}
	return true;
}

bool formats_rows_read(struct formats_rows *rows, const struct cfi_fde *fde,
    uint64_t max_expr_ops, struct err *err)
{
	rows->own.max_expr_ops = max_expr_ops;
	if (!cfi_interpret(&rows->own, fde, err))
		return false;
	for (size_t i = 0; i < rows->n_regs; i += 2) {
		rows->pairs[i / 2].max_expr_ops = max_expr_ops;
		if (!cfi_interpret(&rows->pairs[i / 2], fde, err))
			return false;
	}
	return rows_join(rows) || err_set_nomem(err);
}
