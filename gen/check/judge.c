/* SPDX-License-Identifier: MIT */
/* Evaluates the rules of a row in a state. */
#include "gen/check/judge.h"

static struct code_value value_of(enum code_value_kind kind, uint32_t symbol, int64_t off)
{
	return (struct code_value){.off = off, .symbol = symbol, .kind = (uint8_t)kind};
}

/* Returns the value that the rule computes in the state. cfa is the row's CFA. */
static struct code_value rule_value(const struct cfi_rule *rule, struct code_value cfa,
    uint8_t reg, const struct code_state *state)
{
	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		return state->regs[reg];
	case CFI_AT_CFA:
		return code_state_memory(state, code_value_plus(cfa, rule->off));
	case CFI_CFA_PLUS:
		return code_value_plus(cfa, rule->off);
	case CFI_REG_PLUS:
		if (rule->reg < CODE_SCRATCH)
			return code_value_plus(state->regs[rule->reg], rule->off);
		break;
	case CFI_AT_REG:
		if (rule->reg < CODE_SCRATCH)
			return code_value_plus(
			    code_state_memory(state,
				code_value_plus(state->regs[rule->reg], rule->off)),
			    rule->add);
		break;
	case CFI_CONST:
		return value_of(CODE_CONST, 0, rule->off);
	case CFI_UNDEFINED:
	case CFI_AT_SUM: /* the state knows no sums */
	case CFI_OPAQUE:
		break;
	}
	return value_of(CODE_UNKNOWN, 0, 0);
}

static enum validate_verdict compare(struct code_value found, struct code_value wanted)
{
	if (found.kind == CODE_UNKNOWN)
		return VALIDATE_UNKNOWN;
	return code_value_equal(found, wanted) ? VALIDATE_AGREES : VALIDATE_CONTRADICTS;
}

/* Returns the rule for the return address, where the row has none of its own. */
static struct code_value return_address(const struct code_abi *abi,
    const struct cfi_row *row, struct code_value cfa, const struct code_state *state)
{
	if (row->ra.kind == CFI_UNSPECIFIED && abi->ra == CODE_NO_REG)
		return code_state_memory(state, code_value_plus(cfa, abi->ra_off));
	return rule_value(&row->ra, cfa, abi->ra == CODE_NO_REG ? 0 : abi->ra, state);
}

/* True if a context is switched, or frames are skipped: SP is about to come from this
 * register, or it has moved and the return address has been replaced. */
static bool is_of_another_stack(const struct code_abi *abi, const struct cfi_row *row,
    struct code_value cfa, const struct code_state *state)
{
	if (cfa.kind != CODE_OTHER && cfa.kind != CODE_MADE)
		return false;
	/* A goto out of a nested function loads both from the frame it goes to, which has its CFA in memory where variables are aligned. */
	if (row->cfa.reg == abi->fp)
		return cfa.kind == CODE_OTHER &&
		       state->regs[abi->sp].kind == CODE_UNKNOWN;
	if (row->cfa.kind != CFI_REG_PLUS)
		return false;
	/* A value that the caller had there for its own use is no stack. */
	if (row->cfa.reg < CODE_SCRATCH && row->cfa.reg != abi->sp &&
	    state->regs[row->cfa.reg].kind == CODE_CALLERS)
		return false;
	return row->cfa.reg != abi->sp ||
	       (abi->ra != CODE_NO_REG && row->ra.kind != CFI_AT_CFA &&
		   state->regs[abi->ra].kind == CODE_UNKNOWN);
}

struct validate_answer validate_row(
    const struct arch *arch, const struct cfi_row *row, const struct code_state *state)
{
	const struct code_abi *abi = code_abi(arch->code);
	struct validate_answer answer = {.column = VALIDATE_CFA};
	struct code_value cfa =
	    rule_value(&row->cfa, value_of(CODE_UNKNOWN, 0, 0), 0, state);
	enum validate_verdict verdict;

	if (row->doubtful)
		return (struct validate_answer){.verdict = VALIDATE_UNKNOWN};
	/* A frame without a caller: no walk goes on from here. */
	if (row->ra.kind == CFI_UNDEFINED)
		return answer;
	answer.found = cfa;
	answer.verdict = (uint8_t)compare(cfa, value_of(CODE_CFA, 0, 0));
	if (is_of_another_stack(abi, row, cfa, state))
		answer.verdict = VALIDATE_UNKNOWN;
	if (answer.verdict != VALIDATE_AGREES)
		return answer;
	answer.column = VALIDATE_RA;
	answer.found = return_address(abi, row, cfa, state);
	answer.verdict = (uint8_t)compare(
	    answer.found, value_of(row->ra_signed ? CODE_RA_SIGNED : CODE_RA, 0, 0));
	if (answer.verdict == VALIDATE_CONTRADICTS || row->fp.kind == CFI_UNDEFINED)
		return answer;
	struct code_value fp = rule_value(&row->fp, cfa, abi->fp, state);

	verdict = compare(fp, value_of(CODE_CALLERS, abi->fp, 0));
	if (verdict > answer.verdict)
		answer = (struct validate_answer){
		    .verdict = (uint8_t)verdict, .column = VALIDATE_FP, .found = fp};
	return answer;
}

bool validate_is_bare(
    const struct arch *arch, const struct cfi_row *row, const struct code_state *entry)
{
	const struct validate_answer answer = validate_row(arch, row, entry);

	return !row->doubtful && row->ra.kind != CFI_UNDEFINED &&
	       (answer.verdict == VALIDATE_AGREES || answer.column == VALIDATE_FP);
}

/* Makes the state such that the rule gives value. */
static bool seed_rule(const struct cfi_rule *rule, uint8_t reg, struct code_value value,
    struct code_state *state)
{
	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		if (reg == CODE_NO_REG)
			return false;
		state->regs[reg] = value;
		return true;
	case CFI_AT_CFA:
		code_state_set_memory(state, value_of(CODE_CFA, 0, rule->off), value);
		return true;
	case CFI_REG_PLUS:
		if (rule->reg >= CODE_SCRATCH)
			return false;
		state->regs[rule->reg] = code_value_plus(value, -rule->off);
		return true;
	case CFI_AT_REG:
		if (rule->reg >= CODE_SCRATCH)
			return false;
		/* An address that only this state knows. No instruction is at address 0. */
		if (state->regs[rule->reg].kind == CODE_UNKNOWN)
			state->regs[rule->reg] = value_of(CODE_MADE, 0, 0);
		code_state_set_memory(state,
		    code_value_plus(state->regs[rule->reg], rule->off),
		    code_value_plus(value, -(int64_t)rule->add));
		return true;
	case CFI_UNDEFINED:
		return true;
	case CFI_CFA_PLUS:
	case CFI_CONST:
	case CFI_AT_SUM:
	case CFI_OPAQUE:
		break;
	}
	return false;
}

bool validate_seed(
    const struct arch *arch, const struct cfi_row *row, struct code_state *state)
{
	const struct code_abi *abi = code_abi(arch->code);
	struct cfi_rule ra = row->ra;

	code_state_unknown(state);
	if (row->cfa.kind != CFI_REG_PLUS && row->cfa.kind != CFI_AT_REG)
		return false;
	if (ra.kind == CFI_UNSPECIFIED && abi->ra == CODE_NO_REG)
		ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = abi->ra_off};
	/* s390x saves SP beside the other registers. */
	if ((row->sp.kind == CFI_AT_CFA || row->sp.kind == CFI_REG_PLUS) &&
	    !seed_rule(&row->sp, abi->sp, value_of(CODE_CFA, 0, abi->sp_exit_off), state))
		return false;
	return seed_rule(&row->cfa, CODE_NO_REG, value_of(CODE_CFA, 0, 0), state) &&
	       seed_rule(&ra, abi->ra,
		   value_of(row->ra_signed ? CODE_RA_SIGNED : CODE_RA, 0, 0), state) &&
	       seed_rule(&row->fp, abi->fp, value_of(CODE_CALLERS, abi->fp, 0), state);
}

/* Finds the place in the frame, from SP on, that holds a value: relative to the CFA, else
 * to SP where SP was aligned. False: there is none. */
static bool saved_at(const struct code_abi *abi, const struct code_state *state,
    struct code_value value, struct cfi_rule *rule)
{
	const struct code_value sp = state->regs[abi->sp];
	bool found = false;

	for (uint8_t i = state->n_slots; i-- > 0;) {
		const struct code_slot *slot = &state->slots[i];
		bool same =
		    slot->where.kind == sp.kind && slot->where.symbol == sp.symbol;

		if (!code_value_equal(slot->value, value) ||
		    (same && slot->where.off < sp.off))
			continue;
		if (slot->where.kind == CODE_CFA) {
			*rule =
			    (struct cfi_rule){.kind = CFI_AT_CFA, .off = slot->where.off};
			return true;
		}
		if (same)
			*rule = (struct cfi_rule){.kind = CFI_AT_REG,
			    .reg = abi->sp,
			    .off = slot->where.off - sp.off};
		found |= same;
	}
	return found;
}

/* Finds a register that holds a value, until the next call at the latest: later no walk
 * knows what it held. */
static void held_in(const struct code_abi *abi, const struct code_state *state,
    struct code_value value, struct cfi_rule *rule)
{
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (abi->clobbered >> i & 1 && code_value_equal(state->regs[i], value))
			*rule = (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = i};
}

/* Finds the CFA as a word in memory above SP, which was aligned. */
static bool cfa_saved(
    const struct code_abi *abi, const struct code_state *state, struct cfi_rule *rule)
{
	const struct code_value sp = state->regs[abi->sp];

	for (uint8_t i = 0; i < state->n_slots; i++) {
		const struct code_slot *slot = &state->slots[i];

		if (slot->value.kind != CODE_CFA || slot->where.kind != sp.kind ||
		    slot->where.symbol != sp.symbol || slot->where.off < sp.off ||
		    slot->value.off < -INT32_MAX || slot->value.off > INT32_MAX)
			continue;
		*rule = (struct cfi_rule){.kind = CFI_AT_REG,
		    .reg = abi->sp,
		    .off = slot->where.off - sp.off,
		    .add = -(int32_t)slot->value.off};
		return true;
	}
	return false;
}

/* Finds the CFA by SP, else by the frame pointer, else by memory, else by another register. */
static bool cfa_of(
    const struct code_abi *abi, const struct code_state *state, struct cfi_rule *rule)
{
	uint8_t reg = state->regs[abi->sp].kind == CODE_CFA ? abi->sp : abi->fp;

	if (state->regs[reg].kind != CODE_CFA && cfa_saved(abi, state, rule))
		return true;
	for (uint8_t i = 0; i < CODE_SCRATCH && state->regs[reg].kind != CODE_CFA; i++)
		reg = state->regs[i].kind == CODE_CFA ? i : reg;
	if (state->regs[reg].kind != CODE_CFA)
		return false;
	*rule = (struct cfi_rule){
	    .kind = CFI_REG_PLUS, .reg = reg, .off = -state->regs[reg].off};
	return true;
}

bool validate_row_of(
    const struct arch *arch, const struct code_state *state, struct cfi_row *row)
{
	const struct code_abi *abi = code_abi(arch->code);
	const struct code_value fp = value_of(CODE_CALLERS, abi->fp, 0);
	struct code_value ra = value_of(CODE_RA, 0, 0);
	bool saved;

	*row = (struct cfi_row){0};
	if (!cfa_of(abi, state, &row->cfa))
		return false;
	saved = saved_at(abi, state, ra, &row->ra);
	if (!saved && abi->ra != CODE_NO_REG && state->regs[abi->ra].kind != CODE_RA) {
		ra.kind = CODE_RA_SIGNED;
		row->ra_signed = true;
		saved = saved_at(abi, state, ra, &row->ra);
	}
	/* While the return address is in its register, the frame pointer stays there, too: some
	 * versions of SFrame cannot say otherwise. */
	if ((saved || !code_value_equal(state->regs[abi->fp], fp)) &&
	    !saved_at(abi, state, fp, &row->fp) &&
	    !code_value_equal(state->regs[abi->fp], fp))
		held_in(abi, state, fp, &row->fp);
	return validate_row(arch, row, state).verdict == VALIDATE_AGREES;
}
