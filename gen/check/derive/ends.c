/* SPDX-License-Identifier: MIT */
/* Judges how the ways of an entry end, and what that means for the places before their ends. */
#include "gen/check/derive/walk.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/judge.h"

/* ---- one end ---- */

/* Returns the general registers that a function must give back. A part of a function has
 * to keep the frame pointer alone, because rows say nothing of the others. */
static uint32_t end_wanted(const struct derive_walker *walker)
{
	const struct code_abi *abi = walker->abi;
	const uint32_t general =
	    walker->input->arch->code == CODE_AARCH64 ? UINT32_MAX : UINT16_MAX;

	if (walker->entry->origin & DERIVE_FRAGMENT)
		return UINT32_C(1) << abi->fp;
	return general & ~(abi->clobbered | UINT32_C(1) << abi->sp);
}

/* Judges an end by the registers that were not given back. */
static uint8_t end_keeps(
    const struct derive_walker *walker, const struct code_state *state)
{
	const uint32_t lost = end_wanted(walker) & ~callee_kept(state);

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (lost >> i & 1 && state->regs[i].kind == CODE_UNKNOWN)
			return DERIVE_BAD;
	return lost ? DERIVE_WRONG : DERIVE_GOOD;
}

/* True if the CFI says that a function returns at pc, because its code alone may not tell. */
static bool end_is_described(struct derive_walker *walker, uint64_t pc)
{
	const struct cfi_row *row = walker->entry->origin & DERIVE_DESCRIBED
					? derive_described_row(walker, pc)
					: NULL;
	struct code_state entry;

	code_state_entry(walker->abi, &entry);
	return row && validate_is_bare(walker->input->arch, row, &entry);
}

/* Judges a return, or a jump to where the caller goes on. */
static uint8_t end_returns(struct derive_walker *walker, const struct code_place *place,
    const struct code_state *after)
{
	const struct callee_effect end =
	    callee_return(walker->abi, place, after, end_is_described(walker, place->pc));

	callee_add(&walker->summary.effect, &end);
	if (end.how == CALLEE_RETURNS)
		return end_keeps(walker, after);
	if (end.how != CALLEE_MAY)
		return DERIVE_WRONG;
	walker->returns_somehow = true;
	return DERIVE_BAD;
}

/* True if the function never returns: a jump to it says nothing of where the return address is. */
static bool end_never_returns(const struct derive_walker *walker, uint64_t target)
{
	const struct derive_entry *entry = derive_entry_at(walker->entries, target);
	const struct code_insn jump = {.control = CODE_CALLS, .target = target};

	if (entry && entry->summary.effect.how == CALLEE_RETURNS)
		return false;
	return (entry && entry->summary.effect.how == CALLEE_NEVER) ||
	       validate_never_returns(walker->callees, &jump);
}

/* Judges a jump to code with CFI: the row there has to hold. */
static uint8_t end_in_described(
    struct derive_walker *walker, uint64_t target, const struct code_state *after)
{
	const struct cfi_row *row = derive_described_row(walker, target);
	const enum validate_verdict verdict =
	    row ? (enum validate_verdict)validate_row(walker->input->arch, row, after)
		      .verdict
		: VALIDATE_UNKNOWN;

	if (verdict != VALIDATE_AGREES)
		return verdict == VALIDATE_CONTRADICTS ? DERIVE_WRONG : DERIVE_BAD;
	/* A row says nothing of a frame without a caller. */
	if (row->ra.kind == CFI_UNDEFINED)
		return DERIVE_BAD;
	if (callee_is_bare(walker->abi, after))
		return end_keeps(walker, after) &
		       (end_never_returns(walker, target) ? DERIVE_DOUBTED : UINT8_MAX);
	return DERIVE_GOOD;
}

/* True if the code at addr hands on to an address in memory, as a stub of a PLT does. */
static bool end_is_stub(const struct derive_walker *walker, uint64_t addr)
{
	enum { STUB_INSTRUCTIONS = 6 };
	struct code_insn insn;

	for (int n = 0; n < STUB_INSTRUCTIONS; n++) {
		if (!validate_read_insn(walker->callees, addr, &insn) ||
		    insn.control == CODE_JUMPS_TO)
			return true;
		if (insn.control != CODE_CONTINUES)
			return false;
		addr += insn.length;
	}
	return false;
}

/* True if SP or the frame pointer has another value than at entry. An unknown value does not count, because what a
 * callee does may be found out later. */
static bool end_is_elsewhere(const struct code_abi *abi, const struct code_state *after)
{
	const struct code_value sp = after->regs[abi->sp], fp = after->regs[abi->fp];

	return sp.kind == CODE_CFA &&
	       (sp.off != abi->sp_off ||
		   (fp.kind != CODE_UNKNOWN && !(callee_kept(after) >> abi->fp & 1)));
}

/* Judges a jump out of the code that is followed. */
static uint8_t end_jumps_out(struct derive_walker *walker, uint64_t pc, uint64_t target,
    const struct code_state *after)
{
	const struct derive_entry *entry = derive_entry_at(walker->entries, target);
	const bool bare = callee_is_bare(walker->abi, after);
	const bool described = derive_described_row(walker, target);
	const bool gap = derive_gap_at(walker->gaps, target);
	struct callee_effect end;
	uint8_t kept;

	derive_note_use(walker, target);
	if (entry && !derive_entry_is_function(entry))
		entry = NULL;
	/* A function that is entered with another stack or frame pointer, too, has no state that is known. */
	if (entry && (!bare || !(callee_kept(after) >> walker->abi->fp & 1)))
		derive_refer(walker, pc, target,
		    end_is_elsewhere(walker->abi, after) ? DERIVE_MIXED : DERIVE_UNSURE);
	/* Finds out how a function with CFI goes back, now that control goes on to it. */
	if (bare && described && !gap)
		derive_refer(walker, pc, target, DERIVE_CALLED);
	end = callee_jump(walker->abi, after, entry ? &entry->summary.effect : NULL);
	callee_note_call(walker->abi, after, NULL, &end);
	callee_add(&walker->summary.effect, &end);
	if (described && !gap)
		return end_in_described(walker, target, after);
	if ((gap && !entry) || !image_code_segment(walker->image, target, 1))
		return DERIVE_BAD;
	if (!bare)
		return after->regs[walker->abi->sp].kind == CODE_CFA ? DERIVE_WRONG
								     : DERIVE_BAD;
	kept = end_keeps(walker, after);
	return kept == DERIVE_GOOD && ((gap && !entry->summary.proven) ||
					  end_never_returns(walker, target))
		   ? 0
		   : kept;
}

/*
 * As end_jumps_out, but with doubt about functions that are only named. Such an entry was assumed to be a
 * function; that it hands on to another file in the assumed state does not prove it.
 */
static uint8_t end_jumps(struct derive_walker *walker, uint64_t pc, uint64_t target,
    const struct code_state *after)
{
	const uint8_t flags = end_jumps_out(walker, pc, target, after);
	const bool assumed = walker->entry->origin == DERIVE_NAMED;

	return assumed && flags == DERIVE_GOOD && end_is_stub(walker, target) ? 0 : flags;
}

/* True if an edge leads from the place elsewhere than to the next instruction. */
static bool end_leads_on(const struct needs_edges *edges, const struct code_place *place)
{
	const uint64_t next = place->pc + place->insn->length;

	for (size_t i = needs_edges_from(edges, place->pc);
	     i < edges->n && edges->list[i].from == place->pc; i++)
		if (edges->list[i].to != next)
			return true;
	return false;
}

static uint8_t end_jumps_to(struct derive_walker *walker, const struct code_place *place,
    const struct code_state *after)
{
	/* The scratch register has what the jump itself has loaded. */
	const uint8_t kind = after->regs[place->insn->via].kind;
	/* True if all ways that come here agree on the target. If only some do, it has been
	 * followed for nothing. */
	const bool known = kind == CODE_CONST || (kind == CODE_TABLE && after->table.n);
	struct callee_effect end;

	if (kind == CODE_RA)
		return end_returns(walker, place, after);
	if (known &&
	    (end_leads_on(&walker->edges, place) || end_leads_on(&walker->outs, place)))
		return 0;
	end = callee_jump(walker->abi, after, NULL);
	callee_note_call(walker->abi, after, NULL, &end);
	callee_add(&walker->summary.effect, &end);
	if (!callee_is_bare(walker->abi, after)) {
		walker->open_framed = true;
		return DERIVE_BAD;
	}
	walker->open_bare = true;
	return end_keeps(walker, after) & DERIVE_DOUBTED;
}

/*
 * Judges a system call that gives a signal's context back. With the stack as at entry this can be a signal's
 * trampoline, to which a handler returns, so that its frame is no call's. Else its code belongs to no function like this.
 */
static uint8_t end_gives_signal_back(
    const struct derive_walker *walker, const struct code_state *state)
{
	return callee_is_bare(walker->abi, state) ||
		       state->regs[walker->abi->sp].kind == CODE_UNKNOWN
		   ? DERIVE_BAD
		   : DERIVE_WRONG;
}

/* True if the system call at the place may begin a thread behind it, on another stack. */
static bool end_is_clone(
    const struct derive_walker *walker, const struct code_place *place)
{
	static const uint8_t clone[] = {
	    [CODE_X86_64] = 56, [CODE_AARCH64] = 220, [CODE_S390X] = 120};
	enum { CLONE3 = 435 };
	const int64_t number = code_state_system(place->state, place->insn);

	return place->insn->system &&
	       (number < 0 || number == clone[walker->input->arch->code] ||
		   number == CLONE3);
}

/* True if the instruction takes SP out of memory, or from somewhere else that nothing is known of. */
static bool end_loses_sp(const struct code_abi *abi, const struct code_place *place)
{
	struct code_state after;
	bool moves = place->insn->writes >> abi->sp & 1;

	/* Steps by a number, as a push, are not worth a copy of the state. */
	for (uint8_t i = 0; i < place->insn->n_effects; i++) {
		const struct code_effect *one = &place->insn->effects[i];

		moves |= one->dst == abi->sp &&
			 !(one->kind == CODE_SET && one->base == abi->sp &&
			     one->index == CODE_NO_REG);
	}
	if (!moves || place->state->regs[abi->sp].kind == CODE_UNKNOWN)
		return false;
	memcpy(&after, place->state, sizeof(after));
	code_state_step(&after, abi, place->pc, place->insn);
	return after.regs[abi->sp].kind == CODE_UNKNOWN;
}

uint8_t derive_end_at(struct derive_walker *walker, const struct code_place *place)
{
	const struct code_insn *insn = place->insn;
	const bool calls = insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO;
	size_t i = needs_edges_from(&walker->outs, place->pc);
	const bool leaves = i < walker->outs.n;
	struct code_state after;
	uint8_t flags = 0;
	bool surely;

	callee_note_stores(walker->abi, place, &walker->summary.effect);
	walker->loses_sp |= end_loses_sp(walker->abi, place);
	if (calls)
		callee_note_call(walker->abi, place->state,
		    derive_callee(walker, insn, place->state), &walker->summary.effect);
	walker->open_framed |= end_is_clone(walker, place);
	if (insn->system && place->ends)
		return end_gives_signal_back(walker, place->state);
	if (!leaves && insn->control != CODE_RETURNS && insn->control != CODE_JUMPS_TO &&
	    insn->control != CODE_BRANCHES_TO)
		return 0;
	memcpy(&after, place->state, sizeof(after));
	code_state_step(&after, walker->abi, place->pc, insn);
	if (insn->control == CODE_RETURNS)
		flags |= end_returns(walker, place, &after);
	if (insn->control == CODE_JUMPS_TO || insn->control == CODE_BRANCHES_TO)
		flags |= end_jumps_to(walker, place, &after);
	for (; i < walker->outs.n && walker->outs.list[i].from == place->pc; i++)
		flags |= end_jumps(walker, place->pc, walker->outs.list[i].to, &after) &
			 (walker->outs.list[i].to == place->pc + insn->length &&
				     !derive_entry_is_function(walker->entry)
				 ? DERIVE_DOUBTED
				 : UINT8_MAX);
	if (!calls)
		return flags;
	/* An end that only follows a call proves nothing, because the call may not return. */
	if (!derive_call_returns(walker, insn, &surely) || !surely)
		return (flags & DERIVE_WRONG ? DERIVE_BEHIND : 0) | (flags & DERIVE_BAD);
	return flags & DERIVE_DOUBTED;
}

/* ---- all ends ---- */

const struct derive_place *derive_place_at(
    const struct derive_walker *walker, uint64_t pc)
{
	size_t i = search_list_from(walker->places, walker->n_places, pc, pc);

	return i < walker->n_places && walker->places[i].pc == pc ? &walker->places[i]
								  : NULL;
}

static bool spread_leaves(const struct derive_walker *walker, uint64_t from, uint64_t to)
{
	for (size_t i = needs_edges_from(&walker->outs, from);
	     i < walker->outs.n && walker->outs.list[i].from == from; i++)
		if (walker->outs.list[i].to == to)
			return true;
	return false;
}

/* Returns the flags that the next instruction has. Bytes that are none are no place. */
static uint8_t spread_from_next(
    const struct derive_walker *walker, const struct derive_place *place)
{
	const uint64_t pc = place->pc + place->length;
	const struct derive_place *next = derive_place_at(walker, pc);
	uint8_t flags = DERIVE_WRONG;

	if (next)
		flags = next->flags & (DERIVE_GOOD | DERIVE_DOUBTED);
	/* A label that only runs into a function can be data, or the end of code that never gets there. */
	if (next && derive_entry_at(walker->entries, pc) &&
	    !derive_entry_is_function(walker->entry))
		flags &= (uint8_t)~DERIVE_GOOD;
	else if (spread_leaves(walker, place->pc, pc))
		return 0;
	if (place->flags & DERIVE_MAYBE && flags & DERIVE_WRONG)
		flags = (uint8_t)((flags & ~DERIVE_WRONG) | DERIVE_BEHIND);
	return flags;
}

static uint8_t spread_from(
    const struct derive_walker *walker, const struct derive_place *place)
{
	uint8_t flags = 0;

	if (place->flags & DERIVE_NEXT)
		flags |= spread_from_next(walker, place);
	for (size_t i = needs_edges_from(&walker->edges, place->pc);
	     i < walker->edges.n && walker->edges.list[i].from == place->pc; i++) {
		const uint64_t to = walker->edges.list[i].to;
		const struct derive_place *there = derive_place_at(walker, to);

		if (to != place->pc + place->length)
			flags |= there ? there->flags & (DERIVE_GOOD | DERIVE_DOUBTED)
				       : DERIVE_WRONG;
	}
	return flags;
}

/* Jumps back take another round. */
enum { SPREAD_MAX_ROUNDS = 256 };

bool derive_spread(struct derive_walker *walker)
{
	bool again = true;
	int round = 0;

	for (; again && round < SPREAD_MAX_ROUNDS; round++) {
		again = false;
		for (size_t i = walker->n_places; i-- > 0;) {
			struct derive_place *place = &walker->places[i];
			const uint8_t flags = spread_from(walker, place);

			again |= (place->flags | flags) != place->flags;
			place->flags |= flags;
		}
	}
	return !again;
}

bool derive_cut(struct derive_walker *walker)
{
	const size_t before = walker->n_cuts;
	bool doubt = false;

	if (!vec_reserve(&walker->cuts, &walker->cap_cuts, before + walker->n_places)) {
		walker->nomem = true;
		return false;
	}
	for (size_t i = 0; i < walker->n_places; i++) {
		const struct derive_place *place = &walker->places[i];

		const struct derive_place *next =
		    derive_place_at(walker, place->pc + place->length);

		if (!(place->flags & DERIVE_BEHIND && place->flags & DERIVE_NEXT))
			continue;
		/* Both hold only in code that is not understood. */
		if (next && next->flags & DERIVE_GOOD)
			doubt = true;
		else
			walker->cuts[walker->n_cuts++] = place->pc;
	}
	for (size_t i = 0; doubt && i < walker->n_places; i++)
		walker->places[i].flags |= DERIVE_BAD;
	if (walker->n_cuts == before)
		return false;
	qsort(walker->cuts, walker->n_cuts, sizeof(*walker->cuts), search_order);
	return true;
}
