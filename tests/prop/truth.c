/* SPDX-License-Identifier: MIT */
/* The definition of "can be said", written down a second time, from the manual page. */
#include "tests/prop/truth.h"

const struct truth_machine truth_machines[TRUTH_MACHINES] = {
    {.name = "x86-64",
	.sp = 7,
	.fp = 6,
	.ra = 16,
	.pc = 16,
	.others = {0, 3, 10},
	.cfa_off = 8,
	.fixed_ra = -8,
	.since = 1,
	.flex = true,
	.padding = true},
    {.name = "AArch64",
	.sp = 31,
	.fp = 29,
	.ra = 30,
	.pc = 32,
	.others = {0, 19, 15},
	.since = 1,
	.signs = true},
    {.name = "AArch64 big-endian",
	.big_endian = true,
	.sp = 31,
	.fp = 29,
	.ra = 30,
	.pc = 32,
	.others = {1, 9, 28},
	.since = 1,
	.signs = true},
    {.name = "s390x",
	.big_endian = true,
	.sp = 15,
	.fp = 11,
	.ra = 14,
	.pc = 65,
	.others = {16, 17, 13},
	.cfa_off = 160,
	.sp_off = -160,
	.sp_saved = true,
	.since = 2,
	.flex = true,
	.words_register = true,
	.padding = true},
};

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

bool truth_is_at_entry(
    const struct truth_machine *machine, const struct truth_state *state, uint64_t pc)
{
	struct truth_place cfa;

	return truth_place_at(&state->cfa, pc, &cfa) && cfa.kind == TRUTH_VALUE &&
	       cfa.reg == machine->sp && cfa.off == -machine->sp_off;
}

/*
 * The caller's SP is the CFA, or as far from it as the ABI says: no rule, that rule, or
 * the very rule of the CFA; or it is what a callee saved of it, unless the CFA says that SP is back.
 */
static bool truth_sp_is_cfa(const struct truth_target *target,
    const struct truth_state *state, uint64_t pc, const struct truth_place *cfa)
{
	const struct truth_machine *machine = target->machine;
	const struct truth_rule *rule = &state->sp;
	struct truth_place sp;

	if (rule->how == TRUTH_NO_RULE)
		return true;
	if (rule->how == TRUTH_IS && rule->base == TRUTH_CFA)
		return truth_off(rule, pc) == machine->sp_off;
	if (machine->sp_saved && !target->signal &&
	    !(target->moved && truth_is_at_entry(machine, state, pc))) {
		if (rule->how == TRUTH_SAVED_AT && rule->base == TRUTH_CFA)
			return true;
		if (rule->how == TRUTH_IS && rule->base == TRUTH_REG &&
		    rule->reg != machine->sp && truth_off(rule, pc) == 0)
			return true;
	}
	return machine->sp_off == 0 && truth_place_at(rule, pc, &sp) &&
	       sp.kind == cfa->kind && sp.reg == cfa->reg && sp.off == cfa->off;
}

/* A register that holds its own value is where it was. */
static bool truth_is_own(const struct truth_place *place, uint8_t reg)
{
	return place->kind == TRUTH_VALUE && place->reg == reg && place->off == 0;
}

static bool truth_has_rule(const struct truth_rule *rule)
{
	return rule->how != TRUTH_NO_RULE && rule->how != TRUTH_SAME;
}

/* Where RA is; false when that has no formula, or no call leaves it there. */
static bool truth_ra_at(const struct truth_machine *machine,
    const struct truth_rule *rule, uint64_t pc, struct truth_place *ra)
{
	if (!truth_has_rule(rule))
		return machine->fixed_ra == 0;
	if (!truth_place_at(rule, pc, ra))
		return false;
	if (truth_is_own(ra, machine->ra)) {
		*ra = (struct truth_place){0};
		return machine->fixed_ra == 0;
	}
	if (ra->kind == TRUTH_AT_CFA && machine->fixed_ra && ra->off == machine->fixed_ra)
		*ra = (struct truth_place){0};
	return true;
}

/* The answer of version 3 on a machine for which it can express everything. */
static struct truth_answer truth_rich(
    const struct truth_target *target, const struct truth_state *state, uint64_t pc)
{
	const struct truth_answer nothing = {0}, outermost = {true, .outermost = true};
	struct truth_answer answer = {.sayable = true, .is_signed = state->is_signed};

	if (state->ra.how == TRUTH_UNDEFINED)
		return outermost;
	if (!truth_place_at(&state->cfa, pc, &answer.cfa) ||
	    answer.cfa.kind == TRUTH_AT_CFA)
		return nothing;
	/* The caller's stack would end inside the callee's. */
	if (answer.cfa.kind == TRUTH_VALUE && answer.cfa.reg == target->machine->sp &&
	    target->machine->sp_off < 0 && answer.cfa.off < target->machine->cfa_off)
		return nothing;
	if (!truth_ra_at(target->machine, &state->ra, pc, &answer.ra))
		return nothing;
	if (!truth_sp_is_cfa(target, state, pc, &answer.cfa) || state->with_pc)
		return nothing;
	if (!truth_has_rule(&state->fp))
		return answer;
	if (!truth_place_at(&state->fp, pc, &answer.fp))
		return nothing;
	if (truth_is_own(&answer.fp, target->machine->fp))
		answer.fp = (struct truth_place){0};
	return answer;
}

/* True if a word without a control word can say where RA or FP is. */
static bool truth_word_says(
    const struct truth_target *target, const struct truth_place *place)
{
	bool registers = target->machine->words_register && target->version == 2;

	if (place->kind == TRUTH_AT_CFA)
		return !registers || place->off % 2 == 0;
	if (place->kind == TRUTH_VALUE)
		return registers && place->off == 0;
	return place->kind == TRUTH_NOWHERE;
}

struct truth_answer truth_answer_at(
    const struct truth_target *target, const struct truth_state *state, uint64_t pc)
{
	const struct truth_machine *machine = target->machine;
	const struct truth_answer nothing = {0};
	struct truth_answer answer = truth_rich(target, state, pc);
	bool pairs = target->version >= 3 && machine->flex;

	if (!answer.sayable ||
	    (target->version < 3 && (answer.outermost || target->signal)))
		return nothing;
	if (answer.outermost)
		return answer;
	if (machine->words_register && answer.cfa.off % 8)
		return nothing;
	if (pairs)
		return answer;
	if (answer.cfa.kind != TRUTH_VALUE ||
	    (answer.cfa.reg != machine->sp && answer.cfa.reg != machine->fp))
		return nothing;
	if (!truth_word_says(target, &answer.ra) || !truth_word_says(target, &answer.fp))
		return nothing;
	if (answer.ra.kind != TRUTH_NOWHERE && machine->fixed_ra)
		return nothing;
	if (answer.ra.kind == TRUTH_AT_CFA && answer.ra.off == 0)
		return nothing;
	if (answer.fp.kind != TRUTH_NOWHERE && answer.ra.kind == TRUTH_NOWHERE &&
	    !machine->padding)
		return nothing;
	return answer;
}
