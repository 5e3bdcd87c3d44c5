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

/* Refers to main, which libc gets from the program's entry and calls. */
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
 * True if a reference is evidence of a function: the instruction that makes it is on a way to a good end, which proves that
 * this is code, and is not doubted. The program's entry needs no proof, since the kernel starts it, and can have none, as it never
 * returns.
 */
static bool place_counts(const struct derive_walker *walker, const struct derive_ref *ref)
{
	const uint8_t wanted = walker->emit ? DERIVE_GOOD : 0;
	const struct derive_place *place = derive_place_at(walker, ref->from);

	if (ref->origin == DERIVE_UNSURE)
		return false;
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

bool derive_place_row(void *context, const struct code_place *place)
{
	struct derive_walker *walker = context;
	const size_t i =
	    search_list_from(walker->places, walker->n_places, pc, place->pc);
	struct derive_place *noted = &walker->places[i];
	const struct derive_place *last = i ? noted - 1 : noted;
	const struct need *needs = needs_at(&walker->needs, place->pc);
	const struct need *before = needs_at(&walker->needs, last->pc);
	struct code_state state;
	struct cfi_row row;

	if ((noted->flags & (DERIVE_GOOD | DERIVE_DOUBTED)) != DERIVE_GOOD)
		return true;
	/* A jump with an unknown target left the function with the stack as at its entry. It may lead to any instruction here, so
	 * there is a rule only where the state is that of the entry. */
	if (walker->open_bare && (!callee_is_bare(walker->abi, place->state) ||
				     !(callee_kept(place->state) >> walker->abi->fp & 1)))
		return true;
	/* Most instructions change nothing that a row depends on. */
	if (place->quiet && last->flags & DERIVE_ROW &&
	    last->pc + last->length == place->pc && needs_same(before, needs) &&
	    needs_are_usual(walker->abi, needs)) {
		noted->flags |= DERIVE_ROW;
		noted->row = last->row;
		return true;
	}
	memcpy(&state, place->state, sizeof(state));
	if (!needs_apply(walker->abi, needs, &state) ||
	    !validate_row_of(walker->input->arch, &state, &row))
		return true;
	noted->flags |= DERIVE_ROW;
	if (!walker->n_rows || !cfi_row_same(&walker->rows[walker->n_rows - 1], &row)) {
		if (!vec_reserve(&walker->rows, &walker->cap_rows, walker->n_rows + 1)) {
			walker->nomem = true;
			return false;
		}
		walker->rows[walker->n_rows++] = row;
	}
	noted->row = (uint32_t)walker->n_rows - 1;
	return true;
}

/* Notes the moves of the place, and the needs of ways that end there as they must. */
static void place_note_needs(struct derive_walker *walker, const struct code_place *place,
    const struct derive_place *noted)
{
	size_t i = needs_edges_from(&walker->outs, place->pc);
	const bool leaves = i < walker->outs.n;
	const bool via = place->insn->control == CODE_JUMPS_TO ||
			 place->insn->control == CODE_BRANCHES_TO;
	const struct need ra = needs_usual_ra(walker->abi);

	needs_note(&walker->needs, place, noted->flags & DERIVE_NEXT);
	if (!(noted->flags & DERIVE_GOOD))
		return;
	if (!leaves)
		needs_note_end(&walker->needs, via ? need_of_reg(place->insn->via) : ra);
	for (; i < walker->outs.n && walker->outs.list[i].from == place->pc; i++) {
		const struct cfi_row *row =
		    derive_gap_at(walker->gaps, walker->outs.list[i].to)
			? NULL
			: derive_described_row(walker, walker->outs.list[i].to);

		if (row)
			needs_note_row(&walker->needs, row);
		else
			needs_note_end(&walker->needs, ra);
	}
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
		noted.flags |= place->ends ? 0 : DERIVE_NEXT;
		break;
	case CODE_JUMPS:
	case CODE_JUMPS_TO:
	case CODE_RETURNS:
	case CODE_STOPS:
		break;
	}
	noted.flags |= derive_end_at(walker, place);
	if (walker->emit)
		place_note_needs(walker, place, &noted);
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

static void emit_lost(struct derive_walker *walker, uint64_t addr)
{
	if (!vec_reserve(&walker->lost, &walker->cap_lost, walker->n_lost + 1))
		walker->nomem = true;
	else
		walker->lost[walker->n_lost++] = addr;
}

/* A cut is a call that is taken not to return. If it does return, the code behind it runs in this frame. Unless a function
 * is known to begin there, nothing else says what that code is, so it gets no row. */
static void emit_behind_cuts(struct derive_walker *walker)
{
	for (size_t i = 0; i < walker->n_cuts; i++) {
		const struct derive_place *call =
		    derive_place_at(walker, walker->cuts[i]);
		const struct derive_entry *entry;
		uint64_t behind = call ? call->pc + call->length : 0;
		struct code_insn insn;

		while (call && derive_gap_at(walker->gaps, behind) &&
		       !derive_entry_at(walker->entries, behind) &&
		       validate_read_insn(walker->callees, behind, &insn) && insn.filler)
			behind += insn.length;
		entry = derive_entry_at(walker->entries, behind);
		if (call && !(entry && (derive_entry_is_function(entry) ||
					   entry->summary.proven)))
			emit_lost(walker, call->pc + call->length);
	}
}

void derive_emit(struct derive_walker *walker)
{
	emit_behind_cuts(walker);
	for (size_t i = 0; i < walker->n_refs; i++)
		if (walker->refs[i].origin == DERIVE_UNSURE &&
		    derive_entry_is_function(walker->entry))
			emit_lost(walker, walker->refs[i].to);
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

void derive_emit_lost(struct derive_walker *walker)
{
	emit_lost(walker, walker->entry->addr);
	/* Tables are known of what has been followed, too. */
	for (size_t i = 0; i < walker->outs.n; i++)
		emit_lost(walker, walker->outs.list[i].to);
}
