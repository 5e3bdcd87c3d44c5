/* SPDX-License-Identifier: MIT */
/* CFI rules to SFrame locations, or a named refusal. */
#include "gen/reduce.h"

#include <assert.h>

#include "base/num.h"

/* CFA = SP + off or FP + off; nothing else fits a row of version 1 or 2. */
static enum refusal reduce_cfa(
	const struct arch *arch, const struct cfi_rule *cfa, struct sf_row *out)
{
	switch ((enum cfi_rule_kind)cfa->kind) {
	case CFI_UNSPECIFIED:
	case CFI_UNDEFINED:
	case CFI_SAME:
		return REFUSE_NO_CFA;
	case CFI_REG_PLUS:
		if ((cfa->reg != arch->cfi.sp_reg && cfa->reg != arch->cfi.fp_reg) ||
			!num_u8(cfa->reg, &out->cfa.reg))
			return REFUSE_CFA_REGISTER;
		if (!num_s32(cfa->off, &out->cfa_off))
			return REFUSE_CFA_OFFSET;
		out->cfa.kind = SF_LOC_REG;
		return REFUSE_NOTHING;
	case CFI_AT_REG:
		return REFUSE_CFA_MEMORY;
	case CFI_AT_CFA:
	case CFI_CFA_PLUS:
	case CFI_CONST:
	case CFI_OPAQUE:
		return REFUSE_CFA_EXPRESSION;
	}
	return REFUSE_CFA_EXPRESSION;
}

/* The caller's SP is the CFA (plus the ABI's constant) unless CFI says otherwise. */
static enum refusal reduce_sp(const struct arch *arch, const struct cfi_rule *sp)
{
	if (sp->kind == CFI_UNSPECIFIED)
		return REFUSE_NOTHING;
	if (sp->kind == CFI_CFA_PLUS && sp->off == arch->sp_from_cfa)
		return REFUSE_NOTHING;
	return REFUSE_SP_RULE;
}

/* Where the ABI fixes the place (x86-64: the call pushed it), only that place. */
static enum refusal reduce_ra(
	const struct arch *arch, const struct cfi_rule *ra, struct sf_row *out)
{
	switch ((enum cfi_rule_kind)ra->kind) {
	case CFI_UNDEFINED:
		return REFUSE_RA_UNDEFINED;
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		return REFUSE_RA_UNSAVED;
	case CFI_AT_CFA:
		if (ra->off != arch->fixed_ra_off)
			return REFUSE_RA_ELSEWHERE;
		out->ra = (struct sf_loc){.kind = SF_LOC_NONE};
		return REFUSE_NOTHING;
	case CFI_AT_REG:
		return REFUSE_RA_ELSEWHERE;
	case CFI_REG_PLUS:
		return REFUSE_RA_REGISTER;
	case CFI_CFA_PLUS:
	case CFI_CONST:
	case CFI_OPAQUE:
		return REFUSE_RA_EXPRESSION;
	}
	return REFUSE_RA_EXPRESSION;
}

static enum refusal reduce_fp(
	const struct arch *arch, const struct cfi_rule *fp, struct sf_row *out)
{
	switch ((enum cfi_rule_kind)fp->kind) {
	case CFI_UNSPECIFIED: /* callee-saved in every ABI of SFrame: unchanged */
	case CFI_SAME:
		return REFUSE_NOTHING;
	case CFI_UNDEFINED:
		return REFUSE_FP_UNDEFINED;
	case CFI_AT_CFA:
		if (!num_s32(fp->off, &out->fp_off))
			return REFUSE_FP_OFFSET;
		out->fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		return REFUSE_NOTHING;
	case CFI_REG_PLUS:
		if (fp->reg == arch->cfi.fp_reg && fp->off == 0)
			return REFUSE_NOTHING;
		return fp->off ? REFUSE_FP_EXPRESSION : REFUSE_FP_REGISTER;
	case CFI_AT_REG:
		return fp->add ? REFUSE_FP_EXPRESSION : REFUSE_FP_MEMORY;
	case CFI_CFA_PLUS:
	case CFI_CONST:
	case CFI_OPAQUE:
		return REFUSE_FP_EXPRESSION;
	}
	return REFUSE_FP_EXPRESSION;
}

enum refusal reduce_row(
	const struct arch *arch, const struct cfi_row *row, struct sf_row *out)
{
	enum refusal why;

	*out = (struct sf_row){0};
	/* The return address first: in an outermost frame the other rules mean nothing.
	 */
	why = reduce_ra(arch, &row->ra, out);
	if (why == REFUSE_NOTHING)
		why = reduce_cfa(arch, &row->cfa, out);
	if (why == REFUSE_NOTHING)
		why = reduce_sp(arch, &row->sp);
	if (why == REFUSE_NOTHING)
		why = reduce_fp(arch, &row->fp, out);
	return why;
}

/* Adds row to the function being built, or begins one at pc. */
static bool reduce_append(
	struct sf_section *section, bool *open, uint64_t pc, const struct sf_row *row)
{
	struct sf_row placed = *row;
	struct sf_func *func;
	uint64_t offset;

	if (!*open) {
		if (!sf_section_add_func(section, &(struct sf_func){.start = pc}))
			return false;
		*open = true;
	} else if (sf_row_same(&section->rows[section->n_rows - 1], row)) {
		return true;
	}
	func = &section->funcs[section->n_funcs - 1];
	offset = pc - func->start;
	assert(offset <= UINT32_MAX);
	if (!num_u32(offset, &placed.start))
		return false;
	return sf_section_add_row(section, &placed);
}

static void reduce_close(struct sf_section *section, bool *open, uint64_t end)
{
	struct sf_func *func;
	bool fits;

	if (!*open)
		return;
	func = &section->funcs[section->n_funcs - 1];
	fits = num_u32(end - func->start, &func->size);
	assert(fits);
	(void)fits;
	*open = false;
}

bool reduce_table(const struct arch *arch, const struct cfi_table *table, uint64_t start,
	uint64_t end, const struct reduce_sink *sink, struct sf_section *section)
{
	size_t i = cfi_table_row_at(table, start);
	bool open = false;

	for (; i < table->n_rows && table->rows[i].pc < end; i++) {
		uint64_t from = table->rows[i].pc;
		uint64_t to = i + 1 < table->n_rows ? table->rows[i + 1].pc : table->end;
		struct sf_row row;
		enum refusal why;

		from = from < start ? start : from;
		to = to > end ? end : to;
		if (from >= to)
			continue;
		why = reduce_row(arch, &table->rows[i], &row);
		if (why == REFUSE_NOTHING) {
			if (!reduce_append(section, &open, from, &row))
				return false;
			continue;
		}
		reduce_close(section, &open, from);
		if (!sink->refused(sink->context, why, from, to))
			return false;
	}
	reduce_close(section, &open, end);
	return true;
}
