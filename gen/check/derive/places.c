/* SPDX-License-Identifier: MIT */
/* The places that an entry's ways lead to: their rows, and what they refer to. */
#include "base/search.h"
#include "base/vec.h"
#include "gen/check/derive/walk.h"
#include "gen/check/judge.h"

void derive_refer(
    struct derive_walker *walker, uint64_t from, uint64_t to, enum derive_origin origin)
{
	if (!vec_reserve(&walker->refs, &walker->cap_refs, walker->n_refs + 1))
		walker->nomem = true;
	else
		walker->refs[walker->n_refs++] =
		    (struct derive_ref){from, to, (uint8_t)origin};
}

/* libc is given main by the program's entry, and calls it. */
static void place_refer_main(struct derive_walker *walker, const struct code_place *place)
{
	const uint8_t first = walker->input->arch->code == CODE_X86_64	? 5
			      : walker->input->arch->code == CODE_S390X ? 2
									: 0;
	const struct code_value main = place->state->regs[first];

	if (walker->entry->origin & DERIVE_START && main.kind == CODE_CONST &&
	    derive_gap_at(walker->gaps, (uint64_t)main.off) &&
	    validate_never_returns(walker->callees, place->insn))
		derive_refer(walker, place->pc, (uint64_t)main.off, DERIVE_SURE);
}

static void place_refer_at(struct derive_walker *walker, const struct code_place *place)
{
	const struct code_insn *insn = place->insn;
	uint64_t addr;

	if (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO) {
		uint64_t target = insn->target;

		place_refer_main(walker, place);
		if (insn->control == CODE_CALLS_TO && insn->via < CODE_SCRATCH &&
		    place->state->regs[insn->via].kind == CODE_CONST)
			target = (uint64_t)place->state->regs[insn->via].off;
		if (derive_gap_at(walker->gaps, target) ||
		    derive_range_at(walker, target) != SIZE_MAX)
			derive_refer(walker, place->pc, target, DERIVE_CALLED);
	}
	if (derive_makes_address(walker->image, walker->input->arch->code, place->pc,
		insn, place->state->regs, &addr) &&
	    derive_gap_at(walker->gaps, addr))
		derive_refer(walker, place->pc, addr, DERIVE_NAMED);
}

/*
 * True if an address that the code refers to is taken. The program's entry is reached for sure, and has no end that
 * could prove it.
 */
static bool place_counts(const struct derive_walker *walker, const struct derive_ref *ref)
{
	const uint8_t wanted = walker->emit ? DERIVE_GOOD : 0;
	const struct derive_place *place = derive_place_at(walker, ref->from);

	if (ref->origin == DERIVE_MIXED)
		return derive_entry_is_function(walker->entry);
	if (walker->entry->origin & DERIVE_START)
		return ref->origin != DERIVE_NAMED;
	return place && (place->flags & (wanted | DERIVE_DOUBTED)) == wanted;
}

void derive_find(struct derive_walker *walker)
{
	for (size_t i = 0; i < walker->n_refs; i++) {
		const struct derive_ref *ref = &walker->refs[i];
		const struct derive_entry *entry =
		    derive_entry_at(walker->entries, ref->to);
		uint8_t origin = ref->origin;

		if (!place_counts(walker, ref))
			continue;
		if (!derive_gap_at(walker->gaps, ref->to))
			origin |= DERIVE_DESCRIBED;
		if (!walker->emit && entry && (entry->origin | origin) == entry->origin)
			continue;
		walker->nomem |=
		    !derive_entries_add(&walker->found, ref->to, origin, NULL);
	}
}

/* True if the slot holds the value, and is not at where. */
static bool is_copy(
    const struct code_slot *slot, struct code_value value, struct code_value where)
{
	return code_value_equal(slot->value, value) &&
	       !code_value_equal(slot->where, where);
}

static void place_forget_copies(
    struct code_state *state, struct code_value value, struct code_value where)
{
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (is_copy(&state->slots[i], value, where))
			code_state_set_memory(state, state->slots[i].where,
			    (struct code_value){.kind = CODE_OTHER});
}

/*
 * Leaves in the state the places that a row may name. A register that still holds the value is better than
 * a slot, which somebody can have written to. Of several slots with the return address all but one are
 * copies, which belong to the program. The frame's is where the frame pointer leads to, in s390x's area for
 * registers, or the lowest.
 */
static void place_choose_slots(const struct code_abi *abi, struct code_state *state)
{
	const struct code_value fp = {.kind = CODE_CALLERS, .symbol = abi->fp};
	const struct code_value ra = {.kind = CODE_RA};
	const struct code_value nowhere = {.kind = CODE_UNKNOWN};
	const bool fp_held = code_value_equal(state->regs[abi->fp], fp);
	struct code_value where = nowhere;
	uint8_t n = 0;

	if (fp_held)
		place_forget_copies(state, fp, nowhere);
	if (abi->ra == CODE_NO_REG)
		return;
	if (fp_held && state->regs[abi->ra].kind == CODE_RA) {
		place_forget_copies(state, ra, nowhere);
		return;
	}
	for (uint8_t i = 0; i < state->n_slots; i++) {
		const struct code_slot *slot = &state->slots[i];
		const struct code_value frame =
		    abi->sp_off ? (struct code_value){.kind = CODE_CFA,
				      .off = abi->sp_off + 8 * abi->ra}
				: code_value_plus(state->regs[abi->fp], 8);

		if (slot->value.kind == CODE_RA &&
		    (!n++ || code_value_equal(slot->where, frame)))
			where = slot->where;
	}
	if (!n)
		return;
	place_forget_copies(state, ra, where);
	where = code_value_plus(where, -8 * (abi->sp_off ? abi->ra - abi->fp : 1));
	if (code_value_equal(code_state_memory(state, where), fp))
		place_forget_copies(state, fp, where);
}

static void place_row(struct derive_walker *walker, const struct code_place *place,
    struct derive_place *noted)
{
	const struct derive_place *last =
	    walker->n_places ? &walker->places[walker->n_places - 1] : NULL;
	struct code_state state;
	struct cfi_row row;

	/* Most instructions change nothing that a row depends on. */
	if (place->quiet && last && last->pc + last->length == place->pc) {
		noted->flags |= last->flags & DERIVE_ROW;
		noted->row = last->row;
		return;
	}
	memcpy(&state, place->state, sizeof(state));
	place_choose_slots(walker->abi, &state);
	if (!validate_row_of(walker->input->arch, &state, &row))
		return;
	noted->flags |= DERIVE_ROW;
	if (!walker->n_rows || !cfi_row_same(&walker->rows[walker->n_rows - 1], &row)) {
		if (!vec_reserve(&walker->rows, &walker->cap_rows, walker->n_rows + 1)) {
			walker->nomem = true;
			return;
		}
		walker->rows[walker->n_rows++] = row;
	}
	noted->row = (uint32_t)walker->n_rows - 1;
}

bool derive_place(void *context, const struct code_place *place)
{
	struct derive_walker *walker = context;
	struct derive_place noted = {.pc = place->pc, .length = place->insn->length};
	bool surely;

	switch ((enum code_control)place->insn->control) {
	case CODE_CALLS:
	case CODE_CALLS_TO:
		if (derive_call_returns(walker, place->insn, &surely) &&
		    !derive_is_cut(walker, place->pc))
			noted.flags |= DERIVE_NEXT;
		noted.flags |= surely ? 0 : DERIVE_MAYBE;
		break;
	case CODE_CONTINUES:
	case CODE_BRANCHES:
	case CODE_BRANCHES_TO:
		noted.flags |= DERIVE_NEXT;
		break;
	case CODE_JUMPS:
	case CODE_JUMPS_TO:
	case CODE_RETURNS:
	case CODE_STOPS:
		break;
	}
	noted.flags |= derive_end_at(walker, place);
	if (walker->emit)
		place_row(walker, place, &noted);
	if (!(walker->entry->origin & DERIVE_DESCRIBED))
		place_refer_at(walker, place);
	if (!vec_reserve(&walker->places, &walker->cap_places, walker->n_places + 1))
		walker->nomem = true;
	else
		walker->places[walker->n_places++] = noted;
	return !walker->nomem;
}

static void emit_stretch(
    struct derive_walker *walker, const struct derive_stretch *stretch)
{
	struct derive_stretch *last =
	    walker->n_stretches ? &walker->stretches[walker->n_stretches - 1] : NULL;

	if (last && last->end == stretch->start && last->row == stretch->row &&
	    last->flags == stretch->flags)
		last->end = stretch->end;
	else if (!vec_reserve(
		     &walker->stretches, &walker->cap_stretches, walker->n_stretches + 1))
		walker->nomem = true;
	else
		walker->stretches[walker->n_stretches++] = *stretch;
}

void derive_emit(struct derive_walker *walker)
{
	for (size_t i = 0; i < walker->n_places && !walker->nomem; i++) {
		const struct derive_place *place = &walker->places[i];
		struct derive_stretch stretch = {.start = place->pc,
		    .end = place->pc + place->length,
		    .row = place->row,
		    .flags = place->flags & DERIVE_GOOD};

		if (!walker->entry->reached)
			stretch.flags = 0;
		if (!(place->flags & DERIVE_ROW) || place->flags & DERIVE_DOUBTED)
			stretch = (struct derive_stretch){
			    stretch.start, stretch.end, 0, DERIVE_BAD};
		emit_stretch(walker, &stretch);
	}
}

void derive_emit_doubt(struct derive_walker *walker)
{
	const struct derive_gap *last = NULL;

	for (size_t i = 0; i < walker->n_code && !walker->nomem; i++) {
		const struct derive_gap *gap =
		    derive_gap_at(walker->gaps, walker->code[i].start);

		/* It may lead on to any place there. */
		if (gap && gap != last)
			emit_stretch(walker, &(struct derive_stretch){
						 gap->start, gap->end, 0, DERIVE_BAD});
		last = gap;
	}
}
