/* SPDX-License-Identifier: MIT */
/* What a row says of the caller, by the registers and the memory of the program, against the
 * shadow stack. */
#include "tests/oracle/step_tracer.h"

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

void step_compare(struct tracer *t, const struct step_pc *at)
{
	const struct step_frame *frame = step_shadow_top(&t->shadow);
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
	step_report_compared(&t->report, at, &expected, &got);
}
