/* SPDX-License-Identifier: MIT */
/* The definition of "can be said", written down a second time, from the manual page. */
#include "tests/prop/truth.h"

static int64_t truth_off(const struct truth_rule *rule, uint64_t pc)
{
	if (rule->mask && (pc & rule->mask) >= rule->at_least)
		return rule->off + rule->step;
	return rule->off;
}

static bool truth_fits(int64_t off)
{
	return off == (int32_t)off;
}

struct truth_answer truth_answer_at(const struct truth_state *state, uint64_t pc)
{
	const struct truth_answer nothing = {0};
	struct truth_answer answer = {.sayable = true};
	int64_t cfa_off = truth_off(&state->cfa, pc), fp_off = truth_off(&state->fp, pc);

	/* The CFA is SP or FP plus 32 bits. */
	if (state->cfa.how != TRUTH_IS || state->cfa.base != TRUTH_REG ||
		!truth_fits(cfa_off))
		return nothing;
	if (state->cfa.reg != TRUTH_SP && state->cfa.reg != TRUTH_FP)
		return nothing;
	answer.cfa_from_fp = state->cfa.reg == TRUTH_FP;
	answer.cfa_off = (int32_t)cfa_off;
	/* The return address is where call puts it. */
	if (state->ra.how != TRUTH_SAVED_AT || state->ra.base != TRUTH_CFA ||
		truth_off(&state->ra, pc) != -8)
		return nothing;
	/* The caller's SP is the CFA. */
	if (state->sp.how != TRUTH_NO_RULE &&
		(state->sp.how != TRUTH_IS || state->sp.base != TRUTH_CFA ||
			truth_off(&state->sp, pc) != 0))
		return nothing;
	/* FP is unchanged, or saved at an offset from the CFA. */
	if (state->fp.how == TRUTH_NO_RULE || state->fp.how == TRUTH_SAME)
		return answer;
	if (state->fp.how == TRUTH_IS && state->fp.base == TRUTH_REG &&
		state->fp.reg == TRUTH_FP && fp_off == 0)
		return answer;
	if (state->fp.how != TRUTH_SAVED_AT || state->fp.base != TRUTH_CFA ||
		!truth_fits(fp_off))
		return nothing;
	answer.fp_saved = true;
	answer.fp_off = (int32_t)fp_off;
	return answer;
}
