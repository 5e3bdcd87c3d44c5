/* SPDX-License-Identifier: MIT */
/* Joins the states of two ways that come together. */
#include "code/state_internal.h"

#include <string.h>

static inline struct code_value met(struct code_value a, struct code_value b)
{
	if (code_value_equal(a, b))
		return a;
	/* An address in the stack leads to what is there, even if it is none of the values of a row. */
	if (a.kind == CODE_UNKNOWN || b.kind == CODE_UNKNOWN || a.kind >= CODE_MADE ||
	    b.kind >= CODE_MADE)
		return code_value_of(CODE_UNKNOWN, 0, 0);
	return code_value_of(CODE_OTHER, 0, 0);
}

/* Keeps the slots of both; a slot that only one state has is not known, or another value in the other. */
static bool meet_slots(struct code_state *state, const struct code_state *other)
{
	struct code_state joined;
	bool changed = false;
	uint8_t i = 0, j = 0;

	if (state->n_slots == other->n_slots &&
	    state->memory_unknown == other->memory_unknown &&
	    !memcmp(state->slots, other->slots, state->n_slots * sizeof(state->slots[0])))
		return false;
	joined.n_slots = 0;
	joined.memory_unknown = state->memory_unknown || other->memory_unknown;
	while (i < state->n_slots || j < other->n_slots) {
		const struct code_slot *a = i < state->n_slots ? &state->slots[i] : NULL;
		const struct code_slot *b = j < other->n_slots ? &other->slots[j] : NULL;
		int order = !a ? 1 : !b ? -1 : code_value_order(a->where, b->where);
		struct code_value where = order <= 0 ? a->where : b->where;
		struct code_value value =
		    met(order <= 0 ? a->value : code_state_memory(state, where),
			order >= 0 ? b->value : code_state_memory(other, where));

		i = (uint8_t)(i + (order <= 0));
		j = (uint8_t)(j + (order >= 0));
		if (order > 0 || !code_value_equal(value, a->value))
			changed = true;
		if (!code_state_is_worth_a_slot(&joined, value))
			continue;
		if (joined.n_slots == CODE_MAX_SLOTS) {
			code_state_make_room(&joined);
			changed = true;
			if (!code_state_is_worth_a_slot(&joined, value))
				continue;
		}
		joined.slots[joined.n_slots++] = (struct code_slot){where, value};
	}
	changed |= joined.memory_unknown != state->memory_unknown;
	if (!changed)
		return false;
	changed = joined.n_slots != state->n_slots ||
		  joined.memory_unknown != state->memory_unknown;
	for (i = 0; !changed && i < joined.n_slots; i++)
		changed =
		    !code_value_equal(joined.slots[i].where, state->slots[i].where) ||
		    !code_value_equal(joined.slots[i].value, state->slots[i].value);
	memcpy(state->slots, joined.slots, joined.n_slots * sizeof(joined.slots[0]));
	state->n_slots = joined.n_slots;
	state->memory_unknown = joined.memory_unknown;
	return changed;
}

static bool same_table(const struct code_table *a, const struct code_table *b)
{
	return a->at == b->at && a->start == b->start && a->n == b->n &&
	       a->width == b->width && a->shift == b->shift &&
	       a->is_signed == b->is_signed && a->compared == b->compared;
}

/* Keeps the registers on which both agree. */
static bool meet_regs(struct code_state *state, const struct code_state *other)
{
	bool changed = false;

	/* Most ways that meet agree on all of them. */
	if (same_table(&state->table, &other->table) &&
	    !memcmp(state->regs, other->regs, CODE_SCRATCH * sizeof(state->regs[0])))
		return false;
	for (size_t i = 0; i < CODE_SCRATCH; i++) {
		struct code_value value;

		/* Where many ways meet, most is not known any more. */
		if (state->regs[i].kind == CODE_UNKNOWN ||
		    (code_value_equal(state->regs[i], other->regs[i]) &&
			state->regs[i].kind != CODE_TABLE))
			continue;
		value = met(state->regs[i], other->regs[i]);
		if (value.kind == CODE_TABLE && !same_table(&state->table, &other->table))
			value = code_value_of(CODE_OTHER, 0, 0);
		changed |= !code_value_equal(value, state->regs[i]);
		state->regs[i] = value;
	}
	return changed;
}

bool code_state_meet(struct code_state *state, const struct code_state *other)
{
	bool changed = meet_regs(state, other);
	uint64_t loaded = state->loaded | other->loaded;

	changed |= loaded != state->loaded;
	state->loaded = loaded;
	changed |= other->sp_assumed && !state->sp_assumed;
	state->sp_assumed |= other->sp_assumed;
	if (state->compared != CODE_NO_REG &&
	    (state->compared != other->compared ||
		state->compared_with != other->compared_with ||
		state->compared_width != other->compared_width ||
		state->compared_off != other->compared_off)) {
		state->compared = CODE_NO_REG;
		changed = true;
	}
	return meet_slots(state, other) || changed;
}
