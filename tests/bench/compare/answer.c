/* SPDX-License-Identifier: MIT */
/* Rows as an unwinder understands them, whatever the table they come from. */
#include "tests/bench/compare/func.h"

bool formats_answer_same(const struct formats_answer *a, const struct formats_answer *b)
{
	return cfi_rule_equal(&a->cfa, &b->cfa) && cfi_rule_equal(&a->ra, &b->ra) &&
	       cfi_rule_equal(&a->fp, &b->fp) && a->outermost == b->outermost &&
	       a->signal == b->signal;
}

static bool answer_is_reg(const struct cfi_rule *rule, uint16_t reg)
{
	return rule->kind == CFI_REG_PLUS && rule->reg == reg && rule->off == 0;
}

/* The caller's SP follows from the CFA, unless a rule says otherwise. */
static bool answer_sp_follows(
    const struct formats_machine *machine, bool signal_frame, const struct cfi_row *row)
{
	const struct cfi_rule *sp = &row->sp;

	if (sp->kind == CFI_UNSPECIFIED ||
	    (sp->kind == CFI_CFA_PLUS && sp->off == machine->sp_from_cfa))
		return true;
	if (machine->sp_from_cfa == 0 && cfi_rule_equal(sp, &row->cfa))
		return true;
	return machine->sp_saved && !signal_frame &&
	       (sp->kind == CFI_AT_CFA ||
		   (sp->kind == CFI_REG_PLUS && sp->reg != machine->cfi.sp_reg));
}

/* The return address of x86-64 is in memory, those of the others in a register first. */
static bool answer_ra(const struct formats_machine *machine, const struct cfi_rule *ra,
    struct cfi_rule *out)
{
	if (ra->kind == CFI_UNSPECIFIED || ra->kind == CFI_SAME ||
	    answer_is_reg(ra, machine->ra_reg)) {
		*out = (struct cfi_rule){.kind = CFI_SAME};
		return machine->isa != FORMATS_X86_64;
	}
	*out = *ra;
	return ra->kind == CFI_AT_CFA || ra->kind == CFI_AT_REG ||
	       ra->kind == CFI_REG_PLUS;
}

static bool answer_fp(const struct formats_machine *machine, const struct cfi_rule *fp,
    struct cfi_rule *out)
{
	*out = *fp;
	if (fp->kind == CFI_UNSPECIFIED || answer_is_reg(fp, machine->cfi.fp_reg))
		*out = (struct cfi_rule){.kind = CFI_SAME};
	return out->kind == CFI_SAME || out->kind == CFI_AT_CFA ||
	       out->kind == CFI_AT_REG || out->kind == CFI_REG_PLUS;
}

enum formats_reason formats_answer_read(const struct formats_machine *machine,
    bool signal_frame, const struct cfi_row *row, struct formats_answer *answer)
{
	*answer = (struct formats_answer){0};
	if (row->ra.kind == CFI_UNDEFINED) {
		answer->outermost = true;
		return FORMATS_SAID;
	}
	if (row->cfa.kind == CFI_UNSPECIFIED)
		return FORMATS_NO_CFA;
	if (row->cfa.kind != CFI_REG_PLUS && row->cfa.kind != CFI_AT_REG)
		return FORMATS_CFA_EXPRESSION;
	answer->cfa = row->cfa;
	if (!answer_ra(machine, &row->ra, &answer->ra))
		return FORMATS_RA_PLACE;
	if (!answer_sp_follows(machine, signal_frame, row))
		return FORMATS_SP_RULE;
	if (!answer_fp(machine, &row->fp, &answer->fp))
		return FORMATS_FP_PLACE;
	return FORMATS_SAID;
}

struct formats_walk formats_walk_begin(const struct formats_func *func)
{
	return (struct formats_walk){
	    .func = func, .row = SIZE_MAX, .from = func->start, .to = func->start};
}

bool formats_walk_next(struct formats_walk *walk)
{
	const struct formats_func *func = walk->func;
	const struct cfi_table *table = func->table;

	if (walk->to >= func->end)
		return false;
	walk->row =
	    walk->row == SIZE_MAX ? cfi_table_row_at(table, func->start) : walk->row + 1;
	walk->from = walk->to;
	walk->to =
	    walk->row + 1 < table->n_rows ? table->rows[walk->row + 1].pc : table->end;
	if (walk->to > func->end)
		walk->to = func->end;
	return true;
}

/* At pc the CFA is SP + 8 or, in the last bytes of each 16, SP + 16. */
static bool answer_is_plt(const struct formats_func *func, uint64_t pc,
    const struct cfi_row *row, uint8_t plt_at)
{
	int64_t off = pc % 16 >= plt_at ? 16 : 8;

	return row->cfa.kind == CFI_REG_PLUS && row->cfa.off == off &&
	       row->cfa.reg == func->input->machine.cfi.sp_reg &&
	       row->ra.kind == CFI_AT_CFA && row->ra.off == -8 &&
	       row->fp.kind == CFI_UNSPECIFIED && row->sp.kind == CFI_UNSPECIFIED;
}

/* Every row from plt_from on must hold for that pattern, and end where the pattern does. */
static bool answer_fits_plt(const struct formats_func *func, uint8_t plt_at)
{
	struct formats_walk walk = formats_walk_begin(func);

	while (formats_walk_next(&walk)) {
		const struct cfi_row *row = &func->table->rows[walk.row];
		uint64_t last = walk.to - 1;

		if (walk.from < func->plt_from)
			continue;
		if (!answer_is_plt(func, walk.from, row, plt_at) ||
		    !answer_is_plt(func, last, row, plt_at) || last - walk.from >= 16)
			return false;
	}
	return true;
}

/* The linkers for lazy and for IBT PLTs differ in where the push is. */
void formats_find_plt(struct formats_func *func)
{
	static const uint8_t known[] = {11, 10, 9};

	func->plt_at = 0;
	func->plt_from = func->table->pc_dependent_from;
	if (!func->table->pc_dependent || func->input->machine.isa != FORMATS_X86_64)
		return;
	for (size_t i = 0; i < sizeof(known); i++) {
		if (!answer_fits_plt(func, known[i]))
			continue;
		func->plt_at = known[i];
		return;
	}
}
