/* SPDX-License-Identifier: MIT */
/* How the ways of an entry end, and what that says of the places in front of their ends. */
#include "gen/check/derive/walk.h"

#include "base/search.h"
#include "gen/check/judge.h"

/* ---- one end ---- */

/* The general registers that a function must give back. A part of a function has to keep the frame pointer:
 * of the others, rows say nothing. */
static uint32_t end_wanted(const struct derive_walker *walker)
{
	const struct code_abi *abi = walker->abi;
	const uint32_t general =
	    walker->input->arch->code == CODE_S390X ? UINT16_MAX : UINT32_MAX;

	if (walker->entry->origin & DERIVE_FRAGMENT)
		return UINT32_C(1) << abi->fp;
	return general & ~(abi->clobbered | UINT32_C(1) << abi->sp);
}

/* The registers that hold what they held at entry. */
static uint32_t end_kept(const struct code_state *state)
{
	uint32_t kept = 0;

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (state->regs[i].kind == CODE_CALLERS && state->regs[i].symbol == i)
			kept |= UINT32_C(1) << i;
	return kept;
}

/* Judges an end by the registers that were not given back. */
static uint8_t end_keeps(
    const struct derive_walker *walker, const struct code_state *state)
{
	const uint32_t lost = end_wanted(walker) & ~end_kept(state);

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (lost >> i & 1 && state->regs[i].kind == CODE_UNKNOWN)
			return DERIVE_BAD;
	return lost ? DERIVE_WRONG : DERIVE_GOOD;
}

static bool end_is_cfa(struct code_value value, int64_t off)
{
	return value.kind == CODE_CFA && value.off == off;
}

/* The stack is as at entry, and the return address is where a callee looks for it. */
static bool end_is_bare(const struct code_abi *abi, const struct code_state *state)
{
	const struct code_value sp = state->regs[abi->sp];

	if (!end_is_cfa(sp, abi->sp_off))
		return false;
	return abi->ra == CODE_NO_REG ? code_state_memory(state, sp).kind == CODE_RA
				      : state->regs[abi->ra].kind == CODE_RA;
}

/* Adds an end to what callers know. */
static void end_sum(struct derive_walker *walker, enum derive_return how, uint32_t kept)
{
	uint8_t *sum = &walker->summary.how;

	if (how == DERIVE_NEVER)
		return;
	walker->summary.kept &= kept;
	if (*sum != DERIVE_ODD && (*sum == DERIVE_NEVER || how != DERIVE_MAY))
		*sum = (uint8_t)how;
}

/* Registers that a function can still give back: what it changed is in its frame. */
static uint32_t end_saved(const struct code_state *state)
{
	uint32_t saved = end_kept(state);

	for (uint8_t i = 0; i < state->n_slots; i++)
		if (state->slots[i].value.kind == CODE_CALLERS)
			saved |= UINT32_C(1) << state->slots[i].value.symbol;
	return saved;
}

/* An end at which it is not known where control goes. Callers expect of it what they do of a function of
 * another file, unless it has already taken more off the stack than its own frame. */
static uint8_t end_open(struct derive_walker *walker, const struct code_state *after)
{
	const struct code_value sp = after->regs[walker->abi->sp];
	const bool odd = sp.kind == CODE_CFA && sp.off > walker->abi->sp_off;

	end_sum(walker, odd ? DERIVE_ODD : DERIVE_MAY, end_saved(after));
	return DERIVE_BAD;
}

/* True if a return takes an immediate off the stack, too. */
static bool end_pops(const struct code_abi *abi, const struct code_insn *insn)
{
	for (uint8_t i = 0; insn->control == CODE_RETURNS && i < insn->n_effects; i++)
		if (insn->effects[i].dst == abi->sp &&
		    insn->effects[i].off != abi->sp_exit_off - abi->sp_off)
			return true;
	return false;
}

/* True if the CFI says that a function returns at pc, because its code alone may not tell. */
static bool end_is_described(struct derive_walker *walker, uint64_t pc)
{
	const struct cfi_row *row = walker->entry->origin & DERIVE_DESCRIBED
					? derive_described_row(walker, pc)
					: NULL;
	struct code_state entry;

	code_state_entry(walker->abi, &entry);
	return row &&
	       validate_row(walker->input->arch, row, &entry).verdict == VALIDATE_AGREES;
}

/* A return, or a jump to where the caller goes on. */
static uint8_t end_returns(struct derive_walker *walker, const struct code_place *place,
    const struct code_state *after)
{
	const struct code_abi *abi = walker->abi;
	const struct code_value sp = after->regs[abi->sp];
	const bool pops = end_pops(abi, place->insn);
	struct code_value to = {.kind = CODE_RA};
	bool odd;

	if (place->insn->control == CODE_RETURNS)
		to = abi->ra == CODE_NO_REG
			 ? code_state_memory(place->state, place->state->regs[abi->sp])
			 : after->regs[abi->ra];
	if ((to.kind == CODE_RA && end_is_cfa(sp, abi->sp_exit_off)) ||
	    (!pops && end_is_described(walker, place->pc))) {
		end_sum(walker, DERIVE_RETURNS, end_kept(after));
		return end_keeps(walker, after);
	}
	odd = pops || (!end_is_cfa(sp, abi->sp_exit_off) &&
			  (to.kind == CODE_RA || sp.kind == CODE_CFA));
	end_sum(walker, odd ? DERIVE_ODD : DERIVE_MAY, end_saved(after));
	return odd ? DERIVE_WRONG : DERIVE_BAD;
}

/* A jump to a function that never returns says nothing of where the return address is. */
static bool end_never_returns(const struct derive_walker *walker, uint64_t target)
{
	const struct derive_entry *entry = derive_entry_at(walker->entries, target);
	const struct code_insn jump = {.control = CODE_CALLS, .target = target};

	if (entry && entry->summary.how == DERIVE_RETURNS)
		return false;
	return (entry && entry->summary.how == DERIVE_NEVER) ||
	       validate_never_returns(walker->callees, &jump);
}

/* A jump to code with CFI: the row there has to hold. */
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
	if (end_is_bare(walker->abi, after))
		return end_keeps(walker, after) &
		       (end_never_returns(walker, target) ? DERIVE_DOUBTED : UINT8_MAX);
	return DERIVE_GOOD;
}

/* Control goes out of the code that is followed. */
static uint8_t end_jumps(struct derive_walker *walker, uint64_t pc, uint64_t target,
    const struct code_state *after)
{
	const struct derive_entry *entry = derive_entry_at(walker->entries, target);
	const bool bare = end_is_bare(walker->abi, after);
	const bool described = derive_described_row(walker, target);
	const bool gap = derive_gap_at(walker->gaps, target);
	uint8_t kept;

	derive_note_use(walker, target);
	if (entry && !derive_entry_is_function(entry))
		entry = NULL;
	/* A function that is entered with another stack, too, has no state that is known. */
	if (!bare && entry && after->regs[walker->abi->sp].kind == CODE_CFA)
		derive_refer(walker, pc, target, DERIVE_MIXED);
	if (!bare)
		(void)end_open(walker, after);
	else if (entry)
		end_sum(walker, (enum derive_return)entry->summary.how,
		    end_kept(after) & entry->summary.kept);
	else
		end_sum(walker, DERIVE_MAY, end_kept(after));
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

/* Bytes above its CFA that the function writes to: its arguments, which are its caller's memory. */
static void end_note_stores(struct derive_walker *walker, const struct code_place *place)
{
	struct code_value sp = place->state->regs[walker->abi->sp];

	/* SP above the entry's means that the frame is another function's. */
	if (sp.kind == CODE_CFA && sp.off > walker->abi->sp_off)
		return;
	for (uint8_t i = 0; i < place->insn->n_effects; i++) {
		const struct code_effect *effect = &place->insn->effects[i];
		struct code_value base;

		/* Some instructions move SP and then store. */
		if (effect->kind == CODE_SET && effect->dst == walker->abi->sp)
			sp = effect->base == effect->dst && effect->index == CODE_NO_REG
				 ? code_value_plus(sp, effect->off)
				 : (struct code_value){.kind = CODE_UNKNOWN};
		if (effect->kind != CODE_STORE || effect->base == CODE_NO_REG)
			continue;
		base = code_value_plus(effect->base == walker->abi->sp
					   ? sp
					   : place->state->regs[effect->base],
		    effect->off);
		if (base.kind == CODE_CFA && base.off >= 0 && base.off < INT16_MAX &&
		    base.off + effect->width > walker->summary.written)
			walker->summary.written = (uint32_t)(base.off + effect->width);
	}
}

/* True if one of these goes from the place elsewhere than to the next instruction. */
static bool end_leads_on(
    const struct derive_edge *edges, size_t n, const struct code_place *place)
{
	const uint64_t next = place->pc + place->insn->length;

	for (size_t i = search_list_from(edges, n, from, place->pc);
	     i < n && edges[i].from == place->pc; i++)
		if (edges[i].to != next)
			return true;
	return false;
}

static uint8_t end_jumps_to(struct derive_walker *walker, const struct code_place *place,
    const struct code_state *after)
{
	/* The scratch register has what the jump itself has loaded. */
	const uint8_t kind = after->regs[place->insn->via].kind;

	if (kind == CODE_RA)
		return end_returns(walker, place, after);
	if (end_leads_on(walker->edges, walker->n_edges, place) ||
	    end_leads_on(walker->outs, walker->n_outs, place))
		return 0;
	if (end_is_bare(walker->abi, after)) {
		walker->open_bare = true;
		end_sum(walker, DERIVE_MAY, end_kept(after));
		return end_keeps(walker, after) & DERIVE_DOUBTED;
	}
	walker->open_framed = true;
	return end_open(walker, after);
}

/* Code that gives a signal's context back to the kernel: what is on the stack is no call's. */
static bool end_is_trampoline(const struct derive_walker *walker, uint64_t pc)
{
	static const struct {
		uint8_t size, bytes[9];
	} codes[][3] = {
	    [CODE_X86_64] = {{7, {0xb8, 15, 0, 0, 0, 0x0f, 0x05}},
		{9, {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}}},
	    [CODE_AARCH64] = {{8, {0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4}}},
	    [CODE_S390X] = {{2, {0x0a, 173}}, {2, {0x0a, 119}}},
	};
	const enum code_machine machine = walker->input->arch->code;

	for (size_t i = 0; codes[machine][i].size; i++) {
		const uint8_t size = codes[machine][i].size;
		const uint8_t *bytes = image_at_addr(walker->image, pc, size);

		if (bytes && !memcmp(bytes, codes[machine][i].bytes, size))
			return true;
	}
	return false;
}

uint8_t derive_end_at(struct derive_walker *walker, const struct code_place *place)
{
	const struct code_insn *insn = place->insn;
	const bool calls = insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO;
	size_t i = search_list_from(walker->outs, walker->n_outs, from, place->pc);
	const bool leaves = i < walker->n_outs && walker->outs[i].from == place->pc;
	struct code_state after;
	uint8_t flags = 0;
	bool surely;

	end_note_stores(walker, place);
	if (end_is_trampoline(walker, place->pc))
		return DERIVE_BAD;
	if (!leaves && insn->control != CODE_RETURNS && insn->control != CODE_JUMPS_TO &&
	    insn->control != CODE_BRANCHES_TO)
		return 0;
	memcpy(&after, place->state, sizeof(after));
	code_state_step(&after, walker->abi, place->pc, insn);
	if (insn->control == CODE_RETURNS)
		flags |= end_returns(walker, place, &after);
	if (insn->control == CODE_JUMPS_TO || insn->control == CODE_BRANCHES_TO)
		flags |= end_jumps_to(walker, place, &after);
	for (; i < walker->n_outs && walker->outs[i].from == place->pc; i++)
		flags |= end_jumps(walker, place->pc, walker->outs[i].to, &after) &
			 (walker->outs[i].to == place->pc + insn->length &&
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
	for (size_t i = search_list_from(walker->outs, walker->n_outs, from, from);
	     i < walker->n_outs && walker->outs[i].from == from; i++)
		if (walker->outs[i].to == to)
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
	for (size_t i = search_list_from(walker->edges, walker->n_edges, from, place->pc);
	     i < walker->n_edges && walker->edges[i].from == place->pc; i++) {
		const uint64_t to = walker->edges[i].to;
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
	bool any = false, doubt = false;

	for (size_t i = 0; i < walker->n_places; i++) {
		const struct derive_place *place = &walker->places[i];

		const struct derive_place *next =
		    derive_place_at(walker, place->pc + place->length);

		if (!(place->flags & DERIVE_BEHIND && place->flags & DERIVE_NEXT))
			continue;
		/* Both would be so only of code that is not understood. */
		if (next && next->flags & DERIVE_GOOD) {
			doubt = true;
			continue;
		}
		derive_cut_at(walker, place->pc);
		any = true;
	}
	for (size_t i = 0; doubt && i < walker->n_places; i++)
		walker->places[i].flags |= DERIVE_BAD;
	return any;
}
