/* SPDX-License-Identifier: MIT */
/* The slots of the stack that a state knows. */
#include "code/state_internal.h"

#include <string.h>

int code_value_order(struct code_value a, struct code_value b)
{
	if (a.kind != b.kind)
		return a.kind < b.kind ? -1 : 1;
	if (a.symbol != b.symbol)
		return a.symbol < b.symbol ? -1 : 1;
	return (a.off > b.off) - (a.off < b.off);
}

bool code_state_is_worth_a_slot(const struct code_state *state, struct code_value value)
{
	return value.kind >= CODE_MADE ||
	       (value.kind == CODE_UNKNOWN && !state->memory_unknown);
}

static void slot_remove(struct code_state *state, uint8_t i)
{
	memmove(&state->slots[i], &state->slots[i + 1],
	    (size_t)(state->n_slots - i - 1) * sizeof(state->slots[0]));
	state->n_slots--;
}

struct code_value code_state_memory(
    const struct code_state *state, struct code_value address)
{
	if (address.kind == CODE_UNKNOWN)
		return address;
	if (code_value_is_stack(address)) {
		/* Backwards: values that are asked for most were saved first, at the highest addresses. */
		for (uint8_t i = state->n_slots; i-- > 0;)
			if (code_value_equal(state->slots[i].where, address))
				return state->slots[i].value;
		if (state->memory_unknown)
			return code_value_of(CODE_UNKNOWN, 0, 0);
	}
	return code_value_of(CODE_OTHER, 0, 0);
}

static bool slot_overlaps(
    const struct code_slot *slot, struct code_value address, uint8_t width)
{
	return code_value_same_base(slot->where, address) &&
	       slot->where.off < code_wrapping_add(address.off, width) &&
	       code_wrapping_add(slot->where.off, 8) > address.off;
}

void code_state_lose(struct code_state *state, struct code_value address, uint8_t width)
{
	for (uint8_t i = state->n_slots; i-- > 0;) {
		if (!slot_overlaps(&state->slots[i], address, width))
			continue;
		/* Memory without a slot is unknown then anyway. */
		if (state->memory_unknown)
			slot_remove(state, i);
		else
			state->slots[i].value = (struct code_value){.kind = CODE_UNKNOWN};
	}
}

void code_state_forget(
    struct code_state *state, struct code_value address, uint8_t width, bool spare_saved)
{
	for (uint8_t i = state->n_slots; i-- > 0;) {
		if (spare_saved && state->slots[i].value.kind >= CODE_CFA)
			continue;
		if (slot_overlaps(&state->slots[i], address, width))
			slot_remove(state, i);
	}
}

static bool is_aligned(struct code_value value)
{
	return value.kind == CODE_MADE && value.symbol & CODE_ALIGNED;
}

void code_state_doubt(
    struct code_state *state, struct code_value address, uint8_t width, bool by_sp)
{
	const struct code_value unknown = {.kind = CODE_UNKNOWN};

	for (uint8_t i = state->n_slots; i-- > 0;) {
		const struct code_value where = state->slots[i].where;

		if (code_value_same_base(where, address) ||
		    state->slots[i].value.kind == CODE_UNKNOWN)
			continue;
		if (is_aligned(address)
			? by_sp && code_wrapping_add(address.off, width) > where.off
			: address.kind == CODE_CFA && is_aligned(where) &&
			      address.off < code_wrapping_add(where.off, 8))
			code_state_set_memory(state, where, unknown);
	}
}

/* Drops the lowest slot of full ones, because values that are saved first have the
 * highest addresses, and are asked for most. */
void code_state_make_room(struct code_state *state)
{
	state->memory_unknown = true;
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (state->slots[i].value.kind == CODE_UNKNOWN)
			slot_remove(state, i);
	if (state->n_slots == CODE_MAX_SLOTS)
		slot_remove(state, 0);
}

void code_state_set_memory(
    struct code_state *state, struct code_value address, struct code_value value)
{
	uint8_t i = state->n_slots;

	code_state_forget(state, address, 8, false);
	if (!code_state_is_worth_a_slot(state, value))
		return;
	if (state->n_slots == CODE_MAX_SLOTS)
		code_state_make_room(state);
	/* Memory without a slot now counts as unknown, so an unknown value needs none any more. */
	if (!code_state_is_worth_a_slot(state, value))
		return;
	i = state->n_slots;
	while (i > 0 && code_value_order(state->slots[i - 1].where, address) > 0) {
		state->slots[i] = state->slots[i - 1];
		i--;
	}
	state->slots[i] = (struct code_slot){address, value};
	state->n_slots++;
}

void code_state_forget_below(struct code_state *state, struct code_value sp)
{
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (code_value_same_base(state->slots[i].where, sp) &&
		    state->slots[i].where.off < sp.off)
			slot_remove(state, i);
}

struct code_value code_state_made(struct code_state *state, uint32_t symbol)
{
	struct code_value made = code_value_of(CODE_MADE, symbol, 0);

	for (size_t i = 0; i < CODE_N_REGS; i++)
		if (code_value_same_base(state->regs[i], made))
			state->regs[i] = code_value_of(CODE_OTHER, 0, 0);
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (code_value_same_base(state->slots[i].where, made) ||
		    code_value_same_base(state->slots[i].value, made))
			slot_remove(state, i);
	return made;
}

struct code_value code_state_aligned(
    struct code_state *state, struct code_value value, uint64_t pc)
{
	const bool bounded = value.kind == CODE_CFA || value.symbol & CODE_ALIGNED;
	const uint32_t symbol = (uint32_t)pc & ~CODE_ALIGNED;

	return code_value_plus(
	    code_state_made(state, bounded ? symbol | CODE_ALIGNED : symbol),
	    bounded ? value.off : 0);
}
