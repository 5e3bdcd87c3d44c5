/* SPDX-License-Identifier: MIT */
/* Effects of an instruction on the state of the pass. */
#include "gen/sources/go/go_state.h"

bool go_state_has_slot(const struct go_state *state, const struct go_saved *saved)
{
	return saved->has_slot && saved->slot >= state->sp - saved->below;
}

/* base plus or minus the index, where one is an address in the stack or both are constants. */
static struct go_value sum_of(
    const struct go_value *base, const struct go_value *index, bool minus)
{
	struct go_value sum = {GO_UNKNOWN, 0};
	bool overflow;

	if (index->kind != GO_CONST && (minus || base->kind != GO_CONST))
		return sum;
	overflow = minus ? __builtin_sub_overflow(base->off, index->off, &sum.off)
			 : __builtin_add_overflow(base->off, index->off, &sum.off);
	if (base->kind && index->kind && !overflow)
		sum.kind = base->kind == GO_CONST ? index->kind : base->kind;
	return sum;
}

/* A constant may be cut to some of its bits. */
static struct go_value index_value(
    const struct go_state *state, const struct code_effect *effect)
{
	struct go_value index = go_state_reg(state, effect->index);

	if (effect->shift || (effect->index_bits != 64 &&
				 (effect->index_signed || index.kind != GO_CONST)))
		return (struct go_value){GO_UNKNOWN, 0};
	if (effect->index_bits != 64)
		index.off &= (int64_t)((UINT64_C(1) << effect->index_bits) - 1);
	return index;
}

/* The value that SET and SUBTRACT compute, or the address of a LOAD or STORE. */
static struct go_value sum_value(
    const struct go_state *state, const struct code_effect *effect)
{
	static const struct go_value zero = {GO_CONST, 0};
	const struct go_value off = {GO_CONST, effect->off};
	struct go_value value = zero, index;

	if (effect->base != CODE_NO_REG)
		value = go_state_reg(state, effect->base);
	if (effect->index != CODE_NO_REG) {
		index = index_value(state, effect);
		value = sum_of(&value, &index, effect->kind == CODE_SUBTRACT);
	}
	return sum_of(&value, &off, false);
}

/* The register gets the value; from_slot: the one that was saved. */
static void saved_write(
    struct go_state *state, struct go_saved *saved, struct go_value value, bool from_slot)
{
	/* In Go's ABI for AArch64 the caller's frame pointer is 8 below its SP, so functions
	 * that call nothing compute it. */
	const bool computed = saved == &state->fp && saved->below &&
			      value.kind == GO_CFA && value.off == -(int64_t)saved->below;

	saved->touched = true;
	saved->clean = from_slot || computed;
	if (!go_state_has_slot(state, saved) && !saved->clean)
		saved->changed = true;
}

static void write_reg(struct go_state *state, uint8_t reg, struct go_value value,
    const struct go_value *loaded_from)
{
	struct go_saved *saved = reg == state->fp.reg ? &state->fp : &state->ra;

	go_state_set_reg(state, reg, value);
	if (reg == saved->reg)
		saved_write(state, saved, value,
		    loaded_from && loaded_from->kind == GO_CFA && saved->has_slot &&
			loaded_from->off == saved->slot);
}

/* Tells if bytes at the CFA plus off, of this width, are some of what is saved at the slot. */
static bool hits(int64_t slot, int64_t off, uint8_t width)
{
	return slot < off + width && off < slot + 8;
}

/* Notes if a store at the CFA plus off saves the register, or overwrites the slot in which it is saved. */
static void store_saved(struct go_state *state, struct go_saved *saved,
    const struct code_effect *effect, int64_t off)
{
	const bool saves =
	    effect->dst == saved->reg && effect->width == 8 && saved->clean;

	if (saves && !saved->has_slot && !saved->no_slot) {
		saved->has_slot = true;
		saved->slot = off;
	} else if (go_state_has_slot(state, saved) && !(saves && off == saved->slot)) {
		saved->hit |= hits(saved->slot, off, effect->width);
	}
}

static void apply_store(struct go_state *state, const struct code_effect *effect)
{
	const struct code_abi *abi = state->abi;
	struct go_value where = sum_value(state, effect);

	if (where.kind != GO_CFA || where.off > INT32_MAX || where.off < INT32_MIN)
		return;
	store_saved(state, &state->fp, effect, where.off);
	if (state->ra.reg != CODE_NO_REG)
		store_saved(state, &state->ra, effect, where.off);
	else if (hits(abi->ra_off, where.off, effect->width))
		state->why = GO_RETURN_MOVED;
}

/* Notes a load from address, of width bytes, if it is of a constant of this function. */
static void note_data(struct go_state *state, uint64_t addr, uint8_t width)
{
	const uint64_t end = state->end;

	if (addr <= state->pc || addr >= end || width > end - addr)
		return;
	if (state->data_end <= state->pc) {
		state->data_start = addr;
		state->data_end = addr + width;
	}
	if (addr < state->data_start)
		state->data_start = addr;
	if (addr + width > state->data_end)
		state->data_end = addr + width;
}

/* Tells if it goes by a register of which nothing is known, so that it is an access elsewhere, or gives a value that
 * is not known. */
static bool is_unknown(const struct go_state *state, const struct code_effect *effect)
{
	return effect->base != CODE_NO_REG && !(state->known >> effect->base & 1);
}

static void apply_effect(struct go_state *state, const struct code_effect *effect)
{
	struct go_value value = {GO_UNKNOWN, 0}, from;

	switch ((enum code_effect_kind)effect->kind) {
	case CODE_SET:
	case CODE_SUBTRACT:
		if (effect->width == 8)
			value = sum_value(state, effect);
		write_reg(state, effect->dst, value, NULL);
		break;
	case CODE_LOAD:
		from = sum_value(state, effect);
		if (from.kind == GO_CONST)
			note_data(state, (uint64_t)from.off, effect->width);
		write_reg(state, effect->dst, value, effect->width == 8 ? &from : NULL);
		break;
	case CODE_ALIGN:
		/* Only a part of a constant is loaded. */
		value = go_state_reg(state, effect->base);
		if (value.kind == GO_CONST)
			value.off &= effect->off;
		else
			value.kind = GO_UNKNOWN;
		write_reg(state, effect->dst, value, NULL);
		break;
	case CODE_BOUND:
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		write_reg(state, effect->dst, value, NULL);
		break;
	case CODE_STORE:
		apply_store(state, effect);
		break;
	case CODE_COMPARE:
		break;
	}
}

/* Begins with SP as the table says. */
static void begin(struct go_state *state)
{
	go_state_set_reg(state, state->abi->sp, (struct go_value){GO_CFA, state->sp});
}

/* Keeps what a callee keeps: SP, the frame pointer, and on AArch64 not the return address. */
static void apply_call(struct go_state *state)
{
	state->known &= UINT64_C(1) << state->abi->fp;
	begin(state);
	if (state->ra.reg != CODE_NO_REG)
		write_reg(state, state->ra.reg, (struct go_value){GO_UNKNOWN, 0}, NULL);
}

/* The registers get values that nothing tells. */
static void apply_writes(struct go_state *state, uint32_t writes)
{
	static const struct go_value unknown = {GO_UNKNOWN, 0};

	state->known &= ~(uint64_t)writes;
	if (writes >> state->fp.reg & 1)
		saved_write(state, &state->fp, unknown, false);
	if (state->ra.reg != CODE_NO_REG && writes >> state->ra.reg & 1)
		saved_write(state, &state->ra, unknown, false);
}

void go_state_step(struct go_state *state, const struct code_insn *insn)
{
	begin(state);
	if (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO) {
		apply_call(state);
		return;
	}
	for (uint8_t i = 0; i < insn->n_effects; i++) {
		const struct code_effect *effect = &insn->effects[i];

		if (!is_unknown(state, effect))
			apply_effect(state, effect);
		else if (effect->kind != CODE_STORE && effect->kind != CODE_COMPARE)
			write_reg(
			    state, effect->dst, (struct go_value){GO_UNKNOWN, 0}, NULL);
	}
	apply_writes(state, insn->writes | insn->unsure);
}
