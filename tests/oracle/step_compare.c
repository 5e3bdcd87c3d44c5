/* SPDX-License-Identifier: MIT */
/* What a row says of the caller, by the registers and the memory of the program, against the
 * shadow stack. */
#include "tests/oracle/step_tracer.h"

enum { RBP = 6, RSP = 7 }; /* DWARF's numbers */

/* A DWARF register's value; version 3 can name any. */
static uint64_t reg_value(const struct user_regs_struct *regs, unsigned int reg)
{
	const uint64_t values[] = {regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi,
	    regs->rdi, regs->rbp, regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11,
	    regs->r12, regs->r13, regs->r14, regs->r15, regs->rip};

	return reg < sizeof(values) / sizeof(values[0]) ? values[reg] : 0;
}

/* The value a rule gives; without one, the value that none stands for. */
static bool rule_value(const struct tracer *t, struct sf_loc loc, int32_t off,
    uint64_t cfa, uint64_t unchanged, uint64_t *value)
{
	uint64_t base = loc.kind == SF_LOC_AT_CFA ? cfa : reg_value(&t->regs, loc.reg);

	*value = unchanged;
	if (loc.kind == SF_LOC_NONE)
		return true;
	*value = base + (uint64_t)(int64_t)off;
	if (loc.kind == SF_LOC_REG)
		return true;
	return step_read(&t->modules, *value, value, sizeof(*value));
}

static bool uses_rbp(struct sf_loc loc)
{
	return (loc.kind == SF_LOC_REG || loc.kind == SF_LOC_AT_REG) && loc.reg == RBP;
}

/* Of the registers of a frame above, a walk knows only SP and the frame pointer. */
static bool is_walkable(struct sf_loc loc)
{
	return loc.kind == SF_LOC_NONE || loc.kind == SF_LOC_AT_CFA || loc.reg == RSP;
}

/* What a rule of the frame above gives, which names no register but SP. */
static bool value_above(const struct tracer *t, const struct step_frame *frame,
    struct sf_loc loc, int32_t off, uint64_t cfa, uint64_t *value)
{
	*value =
	    (loc.kind == SF_LOC_AT_CFA ? cfa : frame->slot + 8) + (uint64_t)(int64_t)off;
	return loc.kind == SF_LOC_REG ||
	       step_read(&t->modules, *value, value, sizeof(*value));
}

/*
 * The row leaves %rbp to the frame above, and %rbp is not the caller's. A walk goes on with
 * the wrong value: does a frame above use it, or does it find its own caller's in memory?
 * What is above the outermost frame known is not compared, only that it is read from memory.
 */
static bool is_fp_above(struct tracer *t)
{
	const struct step_shadow *shadow = &t->shadow;

	for (size_t i = shadow->n; i-- > 0;) {
		const struct step_frame *frame = &shadow->frames[i];
		const struct step_pc *at = step_modules_at(&t->modules, frame->ret - 1);
		uint64_t cfa = 0, value = 0;

		if (!at->has_row) /* the walk ends here, if the file has rows at all */
			return at->module && at->module->has_sframe;
		if (at->row.outermost)
			return true;
		if (uses_rbp(at->row.cfa) || uses_rbp(at->row.ra) || uses_rbp(at->row.fp))
			return false;
		if (!is_walkable(at->row.cfa) || !is_walkable(at->row.fp))
			return true; /* the walk ends here, too */
		if (at->row.fp.kind == SF_LOC_NONE)
			continue;
		return value_above(t, frame, at->row.cfa, at->row.cfa_off, 0, &cfa) &&
		       value_above(t, frame, at->row.fp, at->row.fp_off, cfa, &value) &&
		       (i == 0 || value == shadow->frames[i - 1].rbp);
	}
	return false;
}

void step_compare(struct tracer *t, const struct step_pc *found)
{
	const struct step_frame *frame = step_shadow_top(&t->shadow);
	struct step_pc pc = *found, *at = &pc; /* a walk asks for other PCs */
	struct step_values got = {0}, expected;
	struct sf_loc ra = at->row.ra;
	int32_t ra_off = at->row.ra_off;

	if (!step_report_step(&t->report, at))
		return;
	if (!frame) {
		at->module->stats.no_frame++;
		return;
	}
	expected = (struct step_values){
	    .cfa = frame->slot + 8, .ra = frame->ret, .fp = frame->rbp};
	if (at->row.outermost) {
		step_report_compared(&t->report, at, &expected, &got);
		return;
	}
	if (ra.kind == SF_LOC_NONE) {
		ra = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		ra_off = at->module->view.fixed_ra_off;
	}
	if (!rule_value(t, at->row.cfa, at->row.cfa_off, 0, 0, &got.cfa) ||
	    !rule_value(t, ra, ra_off, got.cfa, 0, &got.ra))
		got.ra = 0;
	if (!rule_value(t, at->row.fp, at->row.fp_off, got.cfa, t->regs.rbp, &got.fp))
		got.fp = ~expected.fp;
	if (at->row.fp.kind == SF_LOC_NONE && got.fp != expected.fp &&
	    got.cfa == expected.cfa && got.ra == expected.ra)
		got.fp_above = is_fp_above(t);
	step_report_compared(&t->report, at, &expected, &got);
}
