/* SPDX-License-Identifier: MIT */
/* The definition of "can be said", written down a second time, from the manual page. */
#include "tests/prop/truth.h"

static int64_t truth_off(const struct truth_rule *rule, uint64_t pc)
{
	if (rule->mask && (pc & rule->mask) >= rule->at_least)
		return rule->off + rule->step;
	return rule->off;
}

/* A place with a register that readers know and an offset of 32 bits. */
static bool truth_place_at(
	const struct truth_rule *rule, uint64_t pc, struct truth_place *place)
{
	int64_t off = truth_off(rule, pc);

	if (off != (int32_t)off)
		return false;
	place->off = (int32_t)off;
	place->reg = rule->base == TRUTH_CFA ? 0 : rule->reg;
	if (rule->how == TRUTH_SAVED_AT && rule->base == TRUTH_CFA)
		place->kind = TRUTH_AT_CFA;
	else if (rule->how == TRUTH_SAVED_AT && rule->base == TRUTH_REG)
		place->kind = TRUTH_AT_REG;
	else if (rule->how == TRUTH_IS && rule->base == TRUTH_REG)
		place->kind = TRUTH_VALUE;
	else if (rule->how == TRUTH_IS && rule->base == TRUTH_FROM_REG)
		place->kind = TRUTH_AT_REG;
	else
		return false;
	return place->reg <= 31;
}

/* The caller's SP is the CFA: no rule, that rule, or the very rule of the CFA. */
static bool truth_sp_is_cfa(
	const struct truth_state *state, uint64_t pc, const struct truth_place *cfa)
{
	struct truth_place sp;

	if (state->sp.how == TRUTH_NO_RULE)
		return true;
	if (state->sp.how == TRUTH_IS && state->sp.base == TRUTH_CFA)
		return truth_off(&state->sp, pc) == 0;
	return truth_place_at(&state->sp, pc, &sp) && sp.kind == cfa->kind &&
	       sp.reg == cfa->reg && sp.off == cfa->off;
}

/* A register that holds its own value is where it was. */
static bool truth_is_own(const struct truth_place *place, uint8_t reg)
{
	return place->kind == TRUTH_VALUE && place->reg == reg && place->off == 0;
}

/* What version 3 can say. */
static struct truth_answer truth_rich(const struct truth_state *state, uint64_t pc)
{
	const struct truth_answer nothing = {0}, outermost = {true, .outermost = true};
	struct truth_answer answer = {.sayable = true};

	if (state->ra.how == TRUTH_UNDEFINED)
		return outermost;
	if (!truth_place_at(&state->cfa, pc, &answer.cfa) ||
		answer.cfa.kind == TRUTH_AT_CFA)
		return nothing;
	if (!truth_place_at(&state->ra, pc, &answer.ra) ||
		truth_is_own(&answer.ra, TRUTH_RA))
		return nothing;
	if (answer.ra.kind == TRUTH_AT_CFA && answer.ra.off == -8)
		answer.ra = (struct truth_place){0};
	if (!truth_sp_is_cfa(state, pc, &answer.cfa))
		return nothing;
	if (state->fp.how == TRUTH_NO_RULE || state->fp.how == TRUTH_SAME)
		return answer;
	if (!truth_place_at(&state->fp, pc, &answer.fp))
		return nothing;
	if (truth_is_own(&answer.fp, TRUTH_FP))
		answer.fp = (struct truth_place){0};
	return answer;
}

struct truth_answer truth_answer_at(
	const struct truth_state *state, uint64_t pc, unsigned int version)
{
	const struct truth_answer nothing = {0};
	struct truth_answer answer = truth_rich(state, pc);

	if (version >= 3 || !answer.sayable)
		return answer;
	/* The CFA is SP or FP plus 32 bits, RA where call puts it, FP saved or not. */
	if (answer.outermost || answer.cfa.kind != TRUTH_VALUE ||
		(answer.cfa.reg != TRUTH_SP && answer.cfa.reg != TRUTH_FP))
		return nothing;
	if (answer.ra.kind != TRUTH_NOWHERE ||
		(answer.fp.kind != TRUTH_NOWHERE && answer.fp.kind != TRUTH_AT_CFA))
		return nothing;
	return answer;
}
