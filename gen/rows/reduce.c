/* SPDX-License-Identifier: MIT */
/* CFI rules to SFrame locations, or a named refusal. */
#include "gen/rows/reduce.h"

#include <assert.h>

#include "base/num.h"
#include "sframe/encode.h"
#include "sframe/layout.h"

/* A register and an offset that a row has room for. */
static enum refusal reduce_based(
    const struct cfi_rule *rule, enum refusal too_far, struct sf_loc *loc, int32_t *off)
{
	if (rule->reg > SF_REG_MAX || !num_u8(rule->reg, &loc->reg))
		return REFUSE_REGISTER_NUMBER;
	if (!num_s32(rule->off, off))
		return too_far;
	loc->kind = rule->kind == CFI_REG_PLUS ? SF_LOC_REG : SF_LOC_AT_REG;
	return REFUSE_NOTHING;
}

/* more: gets the part of a CFA from memory that no row can hold; NULL when a row must. */
static enum refusal reduce_cfa(
    const struct cfi_rule *cfa, struct sf_row *out, struct reduce_more *more)
{
	switch ((enum cfi_rule_kind)cfa->kind) {
	case CFI_UNSPECIFIED:
	case CFI_UNDEFINED:
	case CFI_SAME:
		return REFUSE_NO_CFA;
	case CFI_AT_SUM:
	case CFI_AT_REG:
		if (!more && (cfa->add || cfa->kind == CFI_AT_SUM))
			return REFUSE_CFA_EXPRESSION;
		if (more)
			*more = (struct reduce_more){.cfa_add = cfa->add,
			    .indexed = cfa->kind == CFI_AT_SUM,
			    .index = cfi_rule_index(cfa),
			    .shift = cfi_rule_shift(cfa)};
		return reduce_based(cfa, REFUSE_CFA_OFFSET, &out->cfa, &out->cfa_off);
	case CFI_REG_PLUS:
		return reduce_based(cfa, REFUSE_CFA_OFFSET, &out->cfa, &out->cfa_off);
	case CFI_AT_CFA:
	case CFI_CFA_PLUS:
	case CFI_CONST:
	case CFI_OPAQUE:
		return REFUSE_CFA_EXPRESSION;
	}
	return REFUSE_CFA_EXPRESSION;
}

/*
 * The caller's SP is the CFA (plus the ABI's constant) unless CFI says otherwise. Signal
 * trampolines say it by giving SP and CFA the same place in memory. Where callees save SP,
 * the saved value is the same. A signal frame is an exception: it saves the interrupted
 * code's SP. So is a CFA that has come back to SP where SP is still saved, as in GCC's epilogues for
 * s390x: then SP is not restored yet, and CFI contradicts itself.
 */
static enum refusal reduce_sp(const struct target *target, const struct cfi_row *row)
{
	const struct arch *arch = target->arch;
	const struct cfi_rule *sp = &row->sp;

	if (sp->kind == CFI_UNSPECIFIED)
		return REFUSE_NOTHING;
	if (sp->kind == CFI_CFA_PLUS && sp->off == arch->sp_from_cfa)
		return REFUSE_NOTHING;
	if (arch->sp_from_cfa == 0 && cfi_rule_equal(sp, &row->cfa) &&
	    (sp->kind == CFI_AT_REG || sp->kind == CFI_REG_PLUS))
		return REFUSE_NOTHING;
	if (!arch->sp_saved || target->signal_frame ||
	    (row->cfa_moved && row->cfa.kind == CFI_REG_PLUS &&
		row->cfa.reg == arch->cfi.sp_reg && row->cfa.off == -arch->sp_from_cfa))
		return REFUSE_SP_RULE;
	if (sp->kind == CFI_AT_CFA)
		return REFUSE_NOTHING;
	return sp->kind == CFI_REG_PLUS && sp->reg != arch->cfi.sp_reg && sp->off == 0
		   ? REFUSE_NOTHING
		   : REFUSE_SP_RULE;
}

/*
 * Needs no words where the header's fixed place says it already (x86-64: the call pushed
 * it), nor where the link register still holds it.
 */
static enum refusal reduce_ra(
    const struct arch *arch, const struct cfi_rule *ra, struct sf_row *out)
{
	switch ((enum cfi_rule_kind)ra->kind) {
	case CFI_UNDEFINED:
		out->outermost = true;
		return REFUSE_NOTHING;
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		return arch->ra_tracked ? REFUSE_NOTHING : REFUSE_RA_UNSAVED;
	case CFI_AT_CFA:
		if (!arch->ra_tracked && ra->off == arch->fixed_ra_off)
			return REFUSE_NOTHING;
		if (!num_s32(ra->off, &out->ra_off))
			return REFUSE_RA_OFFSET;
		out->ra.kind = SF_LOC_AT_CFA;
		return REFUSE_NOTHING;
	case CFI_AT_REG:
		if (ra->add)
			return REFUSE_RA_EXPRESSION;
		return reduce_based(ra, REFUSE_RA_OFFSET, &out->ra, &out->ra_off);
	case CFI_REG_PLUS:
		if (ra->reg == arch->ra_reg && ra->off == 0)
			return arch->ra_tracked ? REFUSE_NOTHING : REFUSE_RA_UNSAVED;
		return reduce_based(ra, REFUSE_RA_OFFSET, &out->ra, &out->ra_off);
	case CFI_CFA_PLUS: /* a row has words for what is saved there only */
	case CFI_CONST:
	case CFI_AT_SUM:
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
		out->fp.kind = SF_LOC_AT_CFA;
		return REFUSE_NOTHING;
	case CFI_REG_PLUS:
		if (fp->reg == arch->cfi.fp_reg && fp->off == 0)
			return REFUSE_NOTHING;
		return reduce_based(fp, REFUSE_FP_OFFSET, &out->fp, &out->fp_off);
	case CFI_AT_REG:
		if (fp->add)
			return REFUSE_FP_EXPRESSION;
		return reduce_based(fp, REFUSE_FP_OFFSET, &out->fp, &out->fp_off);
	case CFI_CFA_PLUS:
	case CFI_CONST:
	case CFI_AT_SUM:
	case CFI_OPAQUE:
		return REFUSE_FP_EXPRESSION;
	}
	return REFUSE_FP_EXPRESSION;
}

/* True if the caller's register save area has no room between SP and the CFA, by which
 * the caller's stack would end inside the callee's. */
static bool reduce_is_near_sp(const struct arch *arch, const struct sf_row *row)
{
	return arch->sp_from_cfa < 0 && row->cfa.kind == SF_LOC_REG &&
	       row->cfa.reg == arch->cfi.sp_reg && row->cfa_off < -arch->sp_from_cfa;
}

/* Writes the rules in the model's richest form, or returns what no version can hold; more as
 * in reduce_cfa. */
static enum refusal reduce_rules(const struct target *target, const struct cfi_row *row,
    struct sf_row *out, struct reduce_more *more)
{
	const struct arch *arch = target->arch;
	enum refusal why;

	*out = (struct sf_row){0};
	/* The return address first: in an outermost frame the other rules mean nothing.
	 */
	why = reduce_ra(arch, &row->ra, out);
	if (why != REFUSE_NOTHING || out->outermost)
		return why;
	why = reduce_cfa(&row->cfa, out, more);
	if (why == REFUSE_NOTHING && reduce_is_near_sp(arch, out))
		why = REFUSE_CFA_NEAR_SP;
	if (why == REFUSE_NOTHING)
		why = reduce_sp(target, row);
	if (why == REFUSE_NOTHING)
		why = reduce_fp(arch, &row->fp, out);
	out->ra_signed = row->ra_signed;
	if (why == REFUSE_NOTHING && row->ra_signed_with_pc)
		why = REFUSE_RA_SIGNED_PC;
	return why;
}

/* Returns why a version has no words for a row that others of this or of another machine have. */
static enum refusal reduce_beyond(enum sf_cannot cannot, const struct sf_row *row)
{
	switch (cannot) {
	case SF_CAN:
		return REFUSE_NOTHING;
	case SF_CANNOT_OUTERMOST:
		return REFUSE_RA_UNDEFINED;
	case SF_CANNOT_NO_CFA:
		return REFUSE_NO_CFA;
	case SF_CANNOT_CFA_BASE:
		return row->cfa.kind == SF_LOC_AT_REG ? REFUSE_CFA_MEMORY
						      : REFUSE_CFA_REGISTER;
	case SF_CANNOT_CFA_OFFSET:
		return REFUSE_CFA_ALIGNMENT;
	case SF_CANNOT_RA_NOT_FIXED:
	case SF_CANNOT_RA_PLACE:
		return row->ra.kind == SF_LOC_REG ? REFUSE_RA_REGISTER
						  : REFUSE_RA_ELSEWHERE;
	case SF_CANNOT_RA_AT_0:
		return REFUSE_RA_AT_CFA;
	case SF_CANNOT_FP_PLACE:
		return row->fp.kind == SF_LOC_REG ? REFUSE_FP_REGISTER : REFUSE_FP_MEMORY;
	case SF_CANNOT_FP_ALONE:
		return REFUSE_FP_ALONE;
	case SF_CANNOT_SLOT:
		return REFUSE_ODD_SLOT;
	case SF_CANNOT_REGISTER:
		return REFUSE_REGISTER_NUMBER;
	case SF_CANNOT_SIGNED: /* cfi/ signs on one machine only */
	case SF_CANNOT_VERSION:
	case SF_CANNOT_ABI: /* refused before there are rows */
	case SF_N_CANNOT:
		break;
	}
	assert(false && "a row for a version that the machine does not have");
	return REFUSE_NO_CFA;
}

enum refusal reduce_row(
    const struct target *target, const struct cfi_row *row, struct sf_row *out)
{
	enum refusal why =
	    row->doubtful ? REFUSE_CODE_DISAGREES : reduce_rules(target, row, out, NULL);

	if (why == REFUSE_NOTHING)
		why = reduce_beyond(
		    sf_can_express(target->version, target->arch->sframe_abi, out), out);
	/* Comes last, because a reason about a rule is the better one. */
	if (why == REFUSE_NOTHING && target->signal_frame &&
	    target->version < refusal_needs(REFUSE_SIGNAL_FRAME, target->arch))
		return REFUSE_SIGNAL_FRAME;
	return why;
}

bool reduce_rule(const struct target *target, const struct cfi_row *row,
    struct sf_row *out, struct reduce_more *more)
{
	*more = (struct reduce_more){0};
	return !row->doubtful && reduce_rules(target, row, out, more) == REFUSE_NOTHING;
}

/* The function being built, the last of the section while open. */
struct reduce_run {
	const struct target *target;
	struct sf_section *section;
	bool open;
};

static void reduce_close(struct reduce_run *run, uint64_t end)
{
	struct sf_func *func;
	bool fits;

	if (!run->open)
		return;
	func = &run->section->funcs[run->section->n_funcs - 1];
	fits = num_u32(end - func->start, &func->size);
	assert(fits);
	(void)fits;
	run->open = false;
}

/* Adds row, in a new function when there is none yet or the last has all it can. */
static bool reduce_append(struct reduce_run *run, uint64_t pc, const struct sf_row *row)
{
	struct sf_section *section = run->section;
	struct sf_func *func, begun = {.start = pc};
	struct sf_row placed = *row;

	if (run->open && sf_row_same(&section->rows[section->n_rows - 1], row))
		return true;
	if (run->open && section->funcs[section->n_funcs - 1].n_rows >=
			     sf_layout_find(run->target->version)->max_rows)
		reduce_close(run, pc);
	if (!run->open) {
		begun.signal_frame = run->target->signal_frame;
		begun.pauth_b = run->target->pauth_b;
		if (!sf_section_add_func(section, &begun))
			return false;
		run->open = true;
	}
	func = &section->funcs[section->n_funcs - 1];
	assert(pc - func->start <= UINT32_MAX);
	if (!num_u32(pc - func->start, &placed.start))
		return false;
	return sf_section_add_row(section, &placed);
}

bool reduce_table(const struct target *target, const struct cfi_table *table,
    uint64_t start, uint64_t end, const struct reduce_sink *sink,
    struct sf_section *section)
{
	struct reduce_run run = {target, section, false};
	size_t i = cfi_table_row_at(table, start);

	for (; i < table->n_rows && table->rows[i].pc < end; i++) {
		uint64_t from = table->rows[i].pc;
		uint64_t to = i + 1 < table->n_rows ? table->rows[i + 1].pc : table->end;
		struct sf_row row;
		enum refusal why;

		from = from < start ? start : from;
		to = to > end ? end : to;
		if (from >= to)
			continue;
		why = reduce_row(target, &table->rows[i], &row);
		if (why == REFUSE_NOTHING) {
			if (!reduce_append(&run, from, &row))
				return false;
			continue;
		}
		reduce_close(&run, from);
		if (!sink->refused(sink->context, why, from, to, &table->rows[i]))
			return false;
	}
	reduce_close(&run, end);
	return true;
}
