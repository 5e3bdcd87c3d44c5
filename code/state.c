/* SPDX-License-Identifier: MIT */
/* Effects of instructions on a state. */
#include "code/state_internal.h"

struct code_value code_value_plus(struct code_value value, int64_t off)
{
	if (off == 0)
		return value;
	switch ((enum code_value_kind)value.kind) {
	case CODE_CONST:
	case CODE_MADE:
	case CODE_CFA:
		value.off = code_wrapping_add(value.off, off);
		return value;
	case CODE_UNKNOWN:
		return value;
	case CODE_OTHER:
	case CODE_AT_MOST:
	case CODE_TABLE:
	case CODE_RA:
	case CODE_RA_SIGNED:
	case CODE_CALLERS:
		break;
	}
	return code_value_of(CODE_OTHER, 0, 0);
}

void code_state_unknown(struct code_state *state)
{
	memset(state, 0, offsetof(struct code_state, slots));
	state->memory_unknown = true;
	state->compared = CODE_NO_REG;
}

void code_state_entry(const struct code_abi *abi, struct code_state *state)
{
	code_state_unknown(state);
	state->memory_unknown = false;
	for (uint8_t i = 0; i < abi->n_regs; i++)
		state->regs[i] = abi->clobbered >> i & 1
				     ? code_value_of(CODE_OTHER, 0, 0)
				     : code_value_of(CODE_CALLERS, i, 0);
	state->regs[abi->sp] = code_value_of(CODE_CFA, 0, abi->sp_off);
	if (abi->stub_ra_off)
		code_state_set_memory(state, code_value_of(CODE_CFA, 0, abi->stub_ra_off),
		    code_value_of(CODE_UNKNOWN, 0, 0));
	if (abi->ra != CODE_NO_REG)
		state->regs[abi->ra] = code_value_of(CODE_RA, 0, 0);
	else
		code_state_set_memory(state, code_value_of(CODE_CFA, 0, abi->ra_off),
		    code_value_of(CODE_RA, 0, 0));
}

/* ---- effects ---- */

static struct code_value reg_value(const struct code_state *state, uint8_t reg)
{
	return reg == CODE_NO_REG ? code_value_of(CODE_CONST, 0, 0) : state->regs[reg];
}

/* The low bits of a value, extended. */
static struct code_value extended(struct code_value value, uint8_t bits, bool is_signed)
{
	uint64_t mask;

	if (bits >= 64)
		return value;
	mask = (UINT64_C(1) << bits) - 1;
	switch ((enum code_value_kind)value.kind) {
	case CODE_CONST: {
		uint64_t low = (uint64_t)value.off & mask;

		if (is_signed && low >> (bits - 1))
			low |= ~mask;
		return code_value_of(CODE_CONST, 0, (int64_t)low);
	}
	case CODE_AT_MOST:
		if ((uint64_t)value.off <= (is_signed ? mask >> 1 : mask))
			return value;
		break;
	case CODE_UNKNOWN:
	case CODE_OTHER:
	case CODE_TABLE:
	case CODE_MADE:
	case CODE_CFA:
	case CODE_RA:
	case CODE_RA_SIGNED:
	case CODE_CALLERS:
		break;
	}
	return is_signed || bits > 16 ? code_value_of(CODE_OTHER, 0, 0)
				      : code_value_of(CODE_AT_MOST, 0, (int64_t)mask);
}

static struct code_value shifted(struct code_value value, uint8_t shift)
{
	if (shift == 0)
		return value;
	if (value.kind == CODE_CONST && shift < 64)
		return code_value_of(
		    CODE_CONST, 0, (int64_t)((uint64_t)value.off << shift));
	return code_value_of(
	    value.kind == CODE_UNKNOWN ? CODE_UNKNOWN : CODE_OTHER, 0, 0);
}

/* An entry of a table, used as an offset from start. */
static struct code_value table_from(
    struct code_state *state, const struct code_effect *effect, uint64_t start)
{
	if (state->table.start != 0 ||
	    (effect->index_bits < 64 && effect->index_bits != state->table.width * 8))
		return code_value_of(CODE_OTHER, 0, 0);
	state->table.start = start;
	state->table.shift = effect->shift;
	if (effect->index_bits < 64)
		state->table.is_signed = effect->index_signed;
	return code_value_of(CODE_TABLE, 0, 0);
}

static struct code_value sum(
    struct code_state *state, const struct code_effect *effect, uint64_t pc)
{
	struct code_value base = reg_value(state, effect->base);
	struct code_value index = reg_value(state, effect->index), low, scaled;

	base = code_value_plus(base, effect->off);
	low = extended(index, effect->index_bits, effect->index_signed);
	scaled = shifted(low, effect->shift);
	/* s390x multiplies a table's index by an instruction of its own. */
	if (effect->base == CODE_NO_REG && effect->off == 0 && low.kind == CODE_AT_MOST &&
	    effect->shift < 8 && low.off < 1 << 24)
		return code_value_of(CODE_AT_MOST, low.symbol, low.off << effect->shift);
	if (effect->base == CODE_NO_REG && effect->off == 0 && effect->shift == 0) {
		if (index.kind != CODE_TABLE ||
		    effect->index_bits != state->table.width * 8)
			return low;
		state->table.is_signed = effect->index_signed;
		return index;
	}
	/* A table's entry and its start are added in either order. */
	if (base.kind == CODE_TABLE && index.kind == CODE_CONST && effect->shift == 0 &&
	    effect->index_bits == 64 && effect->off == 0)
		return table_from(state, effect, (uint64_t)index.off);
	if (scaled.kind == CODE_CONST)
		return code_value_plus(base, scaled.off);
	if (base.kind == CODE_CONST && effect->index_bits == 64 && effect->shift == 0 &&
	    code_value_is_stack(index))
		return code_value_plus(index, base.off);
	if (base.kind == CODE_CONST && index.kind == CODE_TABLE)
		return table_from(state, effect, (uint64_t)base.off);
	if (base.kind == CODE_UNKNOWN)
		return base;
	if (code_value_is_stack(base))
		return code_state_made(state, (uint32_t)pc & ~CODE_ALIGNED);
	return code_value_of(
	    index.kind == CODE_UNKNOWN ? CODE_UNKNOWN : CODE_OTHER, 0, 0);
}

static struct code_value difference(
    struct code_state *state, const struct code_effect *effect, uint64_t pc)
{
	struct code_value base = reg_value(state, effect->base);
	/* An index is extended and then shifted (Arm ARM, ExtendReg). */
	struct code_value low = extended(
	    reg_value(state, effect->index), effect->index_bits, effect->index_signed);
	struct code_value index = shifted(low, effect->shift);
	const int64_t minus = (int64_t)(0 - (uint64_t)index.off);

	if (index.kind == CODE_CONST)
		return code_value_plus(base, minus);
	if (code_value_is_stack(base) && code_value_same_base(base, index))
		return code_value_of(CODE_CONST, 0, code_wrapping_add(base.off, minus));
	if (code_value_is_stack(base))
		return code_state_made(state, (uint32_t)pc & ~CODE_ALIGNED);
	return code_value_of(base.kind == CODE_UNKNOWN || index.kind == CODE_UNKNOWN
				 ? CODE_UNKNOWN
				 : CODE_OTHER,
	    0, 0);
}

/* The load at a constant address plus an index may be from a table of jump targets. n is 0 where
 * the index has no bound. */
static bool table_begins(struct code_state *state, const struct code_effect *effect,
    uint64_t at, uint32_t n, bool compared)
{
	/* An array of another kind does not displace a table that is complete. */
	for (size_t i = 0; i < CODE_N_REGS; i++)
		if (state->regs[i].kind == CODE_TABLE && n == 0 && state->table.n)
			return false;
	for (size_t i = 0; i < CODE_N_REGS; i++)
		if (state->regs[i].kind == CODE_TABLE)
			state->regs[i] = code_value_of(CODE_OTHER, 0, 0);
	state->table = (struct code_table){
	    .at = at, .n = n, .width = effect->width, .is_signed = effect->load_signed};
	state->table.compared = compared;
	return true;
}

/* Returns the loaded value. Read-only memory at a constant address can be a table of targets. */
static struct code_value loaded(struct code_state *state, const struct code_abi *abi,
    const struct code_effect *effect)
{
	struct code_value base = reg_value(state, effect->base);
	struct code_value index;

	if (effect->index == CODE_NO_REG) {
		if (effect->width != 8)
			return code_value_of(CODE_OTHER, 0, 0);
		/* A shadow stack has return addresses, too. */
		if (effect->dst == abi->ra && !code_value_is_stack(base))
			return code_value_of(CODE_UNKNOWN, 0, 0);
		return code_state_memory(state, code_value_plus(base, effect->off));
	}
	index = state->regs[effect->index];
	/* x86-64 has the table's address in the displacement, or in either register. */
	if (effect->shift == 0 && index.kind == CODE_CONST && base.kind != CODE_CONST) {
		struct code_value other = base;

		base = index;
		index = other;
	}
	base = code_value_plus(base, effect->off);
	index = extended(index, effect->index_bits, effect->index_signed);
	if (base.kind == CODE_CONST &&
	    (1 << effect->shift == effect->width || effect->shift == 0)) {
		bool bounded = index.kind == CODE_AT_MOST && index.off < UINT32_MAX;
		uint32_t n =
		    !bounded ? 0
			     : ((uint32_t)index.off << effect->shift) / effect->width + 1;

		if (table_begins(
			state, effect, (uint64_t)base.off, n, bounded && index.symbol))
			return code_value_of(CODE_TABLE, 0, 0);
	}
	return code_value_of(base.kind == CODE_UNKNOWN || code_value_is_stack(base)
				 ? CODE_UNKNOWN
				 : CODE_OTHER,
	    0, 0);
}

/* More bytes than a register holds are an object, or a part of one. */
enum { STATE_OBJECT = 65 };

static bool is_loaded(const struct code_state *state, uint8_t reg)
{
	return reg != CODE_NO_REG && state->loaded >> reg & 1;
}

static void store(struct code_state *state, const struct code_abi *abi,
    const struct code_effect *effect)
{
	struct code_value address =
	    code_value_plus(reg_value(state, effect->base), effect->off);
	struct code_value value = extended(
	    reg_value(state, effect->index), effect->index_bits, effect->index_signed);
	bool spare_saved;

	/* An index that is not constant is assumed to stay in its array, and so off saved values. */
	if (value.kind == CODE_CONST)
		address = code_value_plus(address, shifted(value, effect->shift).off);
	if (value.kind != CODE_CONST || !code_value_is_stack(address))
		return;
	/* Neither an object nor a store through a pointer in memory reaches what is saved: the
	 * address may be an old one, of a buffer in the frame that a callee has put elsewhere
	 * since. */
	spare_saved = !state->wary &&
		      (effect->width >= STATE_OBJECT || is_loaded(state, effect->base));
	if (state->wary)
		code_state_doubt(state, address, effect->width,
		    code_value_same_base(address, state->regs[abi->sp]));
	if (effect->dst == CODE_NO_REG || effect->width != 8 || spare_saved)
		code_state_forget(state, address, effect->width, spare_saved);
	else {
		value = state->regs[effect->dst];
		/* A frame gets another return address on purpose: to raise an exception,
		 * or to jump by a return. The CFI there describes that. */
		if (value.kind < CODE_RA &&
		    code_state_memory(state, address).kind == CODE_RA)
			value = code_value_of(CODE_UNKNOWN, 0, 0);
		code_state_set_memory(state, address, value);
	}
}

static void set_reg(struct code_state *state, uint8_t reg, struct code_value value)
{
	state->regs[reg] = value;
	state->loaded &= ~(UINT64_C(1) << reg);
	if (state->compared == reg || state->compared_with == reg)
		state->compared = CODE_NO_REG;
}

/* 32-bit results keep only small numbers. */
static struct code_value narrowed(struct code_value value, uint8_t width)
{
	if (width >= 8 || value.kind == CODE_AT_MOST || value.kind == CODE_OTHER ||
	    value.kind == CODE_TABLE)
		return value;
	return extended(value, (uint8_t)(width * 8), false);
}

static void step_effect(struct code_state *state, const struct code_abi *abi,
    const struct code_effect *effect, uint64_t pc)
{
	bool from_memory =
	    is_loaded(state, effect->base) || is_loaded(state, effect->index);
	struct code_value value;

	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
		/* Most effects have no index. */
		value = effect->index == CODE_NO_REG
			    ? code_value_plus(reg_value(state, effect->base), effect->off)
			    : sum(state, effect, pc);
		value = narrowed(value, effect->width);
		break;
	case CODE_SUBTRACT:
		value = narrowed(difference(state, effect, pc), effect->width);
		break;
	case CODE_ALIGN:
		value = reg_value(state, effect->base);
		if (code_value_is_stack(value))
			value = code_state_aligned(state, value, pc);
		else if (value.kind == CODE_CONST)
			value.off &= effect->off;
		else if (value.kind != CODE_UNKNOWN)
			value = code_value_of(CODE_OTHER, 0, 0);
		value = narrowed(value, effect->width);
		break;
	case CODE_BOUND:
		value = code_value_of(CODE_AT_MOST, 0, effect->off);
		break;
	case CODE_LOAD:
		value = loaded(state, abi, effect);
		from_memory = true;
		break;
	case CODE_STORE:
		store(state, abi, effect);
		return;
	case CODE_COMPARE:
		state->compared = effect->dst;
		state->compared_with = effect->index;
		state->compared_width = effect->width;
		state->compared_off = effect->off;
		return;
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		value = state->regs[effect->dst];
		if (value.kind == CODE_RA || value.kind == CODE_RA_SIGNED)
			value.kind = effect->kind == CODE_SIGN ? CODE_RA_SIGNED : CODE_RA;
		else if (value.kind != CODE_UNKNOWN)
			value = code_value_of(CODE_OTHER, 0, 0);
		break;
	default:
		return;
	}
	set_reg(state, effect->dst, value);
	if (from_memory && code_value_is_stack(value))
		state->loaded |= UINT64_C(1) << effect->dst;
}

static void step_call(struct code_state *state, const struct code_abi *abi)
{
	const struct code_value sp = state->regs[abi->sp];

	code_state_forget_below(state, sp);
	/* On s390x, the callee may save registers behind two words above SP, where OCaml's functions keep words of their own. */
	if (abi->sp_exit_off)
		code_state_lose(
		    state, code_value_plus(sp, 16), (uint8_t)(-abi->sp_exit_off - 16));
	for (uint32_t rest = abi->clobbered; rest; rest &= rest - 1)
		state->regs[__builtin_ctz(rest)] = code_value_of(CODE_OTHER, 0, 0);
	state->loaded &= ~(uint64_t)abi->clobbered;
	state->compared = CODE_NO_REG;
}

static bool adds_to_sp(const struct code_insn *insn, const struct code_abi *abi)
{
	for (uint8_t i = 0; i < insn->n_effects; i++)
		if (insn->effects[i].kind == CODE_SET &&
		    insn->effects[i].dst == abi->sp && insn->effects[i].base == abi->sp &&
		    insn->effects[i].index != CODE_NO_REG)
			return true;
	return false;
}

void code_state_step(struct code_state *state, const struct code_abi *abi, uint64_t pc,
    const struct code_insn *insn)
{
	if (insn->ends_compare)
		state->compared = CODE_NO_REG;
	for (uint8_t i = 0; i < insn->n_effects; i++)
		step_effect(state, abi, &insn->effects[i], pc);
	state->loaded &= ~(UINT64_C(1) << abi->sp);
	for (uint32_t rest = insn->writes | insn->unsure; rest; rest &= rest - 1) {
		const uint8_t i = (uint8_t)__builtin_ctz(rest);
		const uint8_t kind = insn->unsure >> i & 1 ? CODE_UNKNOWN : CODE_OTHER;

		set_reg(state, i, code_value_of(kind, 0, 0));
	}
	/* Adding a register to SP skips frames, to raise an exception; taking space is a subtraction. */
	if (state->regs[abi->sp].kind == CODE_MADE &&
	    state->regs[abi->sp].symbol == ((uint32_t)pc & ~CODE_ALIGNED) &&
	    adds_to_sp(insn, abi))
		state->regs[abi->sp] = code_value_of(CODE_UNKNOWN, 0, 0);
	/* SP is on another stack, whose frames are not known. */
	if (state->regs[abi->sp].kind == CODE_OTHER)
		state->regs[abi->sp] = code_value_of(CODE_UNKNOWN, 0, 0);
	if (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO)
		step_call(state, abi);
}

bool code_insn_is_quiet(const struct code_insn *insn, const struct code_abi *abi)
{
	uint64_t changed = insn->writes | insn->unsure, frame = UINT64_C(1) << abi->sp;

	if (insn->control != CODE_CONTINUES && insn->control != CODE_BRANCHES)
		return false;
	for (uint8_t i = 0; i < insn->n_effects; i++) {
		const struct code_effect *effect = &insn->effects[i];

		if (effect->kind == CODE_COMPARE)
			continue;
		/* A sum of two registers can be an address that takes the name of another. */
		if (effect->kind == CODE_STORE || effect->kind == CODE_ALIGN ||
		    (effect->index != CODE_NO_REG && effect->base != CODE_NO_REG))
			return false;
		changed |= UINT64_C(1) << effect->dst;
	}
	frame |= UINT64_C(1) << abi->fp;
	if (abi->ra != CODE_NO_REG)
		frame |= UINT64_C(1) << abi->ra;
	return !(changed & frame);
}

/* ---- branches ---- */

/* Finds the most that the compared register can be, once the branch went this way. False: no limit. */
static bool branch_limit(
    const struct code_state *state, uint8_t condition, bool jumped, int64_t *most)
{
	*most = state->compared_off;
	if (state->compared_off < 0 || state->compared_off > UINT16_MAX)
		return false;
	switch ((enum code_condition)condition) {
	case CODE_IF_ABOVE:
		return !jumped;
	case CODE_IF_BELOW_EQUAL:
		return jumped;
	case CODE_IF_ABOVE_EQUAL:
		--*most;
		return !jumped && *most >= 0;
	case CODE_IF_BELOW:
		--*most;
		return jumped && *most >= 0;
	case CODE_IF_OTHER:
	case CODE_IF_EQUAL:
	case CODE_IF_NOT_EQUAL:
		break;
	}
	return false;
}

static void state_branch(struct code_state *state, const struct code_abi *abi,
    const struct code_insn *insn, bool jumped)
{
	struct code_value *a = &state->regs[state->compared], *b;
	int64_t most;

	if (state->compared_with == CODE_NO_REG) {
		if (!branch_limit(state, insn->condition, jumped, &most))
			return;
		if (a->kind == CODE_OTHER || (a->kind == CODE_TABLE && !state->table.n) ||
		    (a->kind == CODE_UNKNOWN && abi->clobbered >> state->compared & 1))
			*a = code_value_of(CODE_AT_MOST, 1, most);
		else if (a->kind == CODE_AT_MOST && a->off >= most)
			*a = code_value_of(CODE_AT_MOST, 1, most);
		return;
	}
	/* A loop that moves SP page by page ends where both are equal. */
	b = &state->regs[state->compared_with];
	if (state->compared_width != 8 ||
	    insn->condition != (jumped ? CODE_IF_EQUAL : CODE_IF_NOT_EQUAL))
		return;
	if (state->compared == abi->sp && code_value_is_stack(*b))
		*a = *b;
	else if (state->compared_with == abi->sp && code_value_is_stack(*a))
		*b = *a;
}

void code_state_branch(struct code_state *state, const struct code_abi *abi,
    const struct code_insn *insn, bool jumped)
{
	if (state->compared == CODE_NO_REG)
		return;
	state_branch(state, abi, insn, jumped);
	/* A comparison that is a part of the branch is of no use to the next one. */
	if (insn->ends_compare)
		state->compared = CODE_NO_REG;
}
