/* SPDX-License-Identifier: MIT */
/* Compares the caller that a row finds, in the registers and the memory of the program,
 * with the shadow stack's. */
#include <endian.h>

#include "tests/oracle/step_tracer.h"

/* AArch64: what a signature leaves of an address. */
#define SIGNED_ADDRESS UINT64_C(0xffffffffffff)

/* The value a rule gives; without one, the value that none stands for. */
static bool rule_value(const struct tracer *t, struct sf_loc loc, int32_t off,
    uint64_t cfa, uint64_t unchanged, uint64_t *value)
{
	uint64_t base = loc.kind == SF_LOC_AT_CFA ? cfa
			: loc.reg < STEP_N_REGS	  ? t->values[loc.reg]
						  : 0;

	*value = unchanged;
	if (loc.kind == SF_LOC_NONE)
		return true;
	*value = base + (uint64_t)(int64_t)off;
	if (loc.kind == SF_LOC_REG)
		return true;
	if (!step_read(&t->modules, *value, value, sizeof(*value)))
		return false;
	if (t->modules.machine->big_endian)
		*value = be64toh(*value);
	return true;
}

/* The return address where no rule says where it is. */
static uint64_t ra_of(const struct tracer *t)
{
	uint8_t reg = t->modules.machine->ra;

	return reg == STEP_NO_REG ? 0 : t->values[reg];
}

void step_compare(struct tracer *t, const struct step_pc *at)
{
	const struct step_frame *frame = step_shadow_top(&t->shadow);
	const struct step_machine *machine = t->modules.machine;
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

	    .cfa = frame->slot + machine->cfa_off, .ra = frame->ret, .fp = frame->rbp};
	if (at->row.outermost) {
		step_report_compared(&t->report, at, &expected, &got);
		return;
	}
	if (ra.kind == SF_LOC_NONE && machine->ra == STEP_NO_REG) {
		ra = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		ra_off = at->module->view.fixed_ra_off;
	}
	if (!rule_value(t, at->row.cfa, at->row.cfa_off, 0, 0, &got.cfa) ||
	    !rule_value(t, ra, ra_off, got.cfa, ra_of(t), &got.ra))
		got.ra = 0;
	if (!rule_value(
		t, at->row.fp, at->row.fp_off, got.cfa, t->values[machine->fp], &got.fp))
		got.fp = ~expected.fp;
	if (at->row.ra_signed)
		got.ra &= SIGNED_ADDRESS;
	step_report_compared(&t->report, at, &expected, &got);
}
