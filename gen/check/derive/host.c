/* SPDX-License-Identifier: MIT */
/* Answers to the analysis of paths, about the code around an entry. */
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/derive/walk.h"
#include "gen/check/judge.h"

static bool host_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	const struct derive_walker *walker = context;

	return validate_read(walker->image, addr, width, value);
}

static bool host_keeps_first(
    void *context, const struct code_insn *call, const struct code_state *state)
{
	const struct derive_walker *walker = context;

	return validate_keeps_first(walker->callees, call, state);
}

bool derive_is_cut(const struct derive_walker *walker, uint64_t pc)
{
	const size_t i =
	    search_from(walker->cuts, sizeof(*walker->cuts), walker->n_cuts, pc);

	return i < walker->n_cuts && walker->cuts[i] == pc;
}

bool derive_call_returns(
    const struct derive_walker *walker, const struct code_insn *call, bool *surely)
{
	const struct derive_entry *callee = NULL;

	if (call->control == CODE_CALLS)
		callee = derive_entry_at(walker->entries, call->target);
	*surely = callee && callee->summary.effect.how >= CALLEE_RETURNS;
	/* Its code counts, not its name. */
	if (*surely)
		return true;
	if (callee && derive_gap_at(walker->gaps, call->target))
		return callee->summary.effect.how != CALLEE_NEVER;
	return !(callee && callee->summary.effect.how == CALLEE_NEVER) &&
	       !validate_never_returns(walker->callees, call);
}

/* Notes that no way goes on behind the call at pc. */
static void host_cut_at(struct derive_walker *walker, uint64_t pc)
{
	const size_t i =
	    search_from(walker->cuts, sizeof(*walker->cuts), walker->n_cuts, pc);

	if (!vec_reserve(&walker->cuts, &walker->cap_cuts, walker->n_cuts + 1)) {
		walker->nomem = true;
		return;
	}
	memmove(&walker->cuts[i + 1], &walker->cuts[i],
	    (walker->n_cuts++ - i) * sizeof(*walker->cuts));
	walker->cuts[i] = pc;
}

/* A call that may not return, and behind which another function begins or the code ends, is the last
 * instruction of its function. */
static bool host_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	struct derive_walker *walker = context;
	bool surely;

	(void)after;
	if (derive_is_cut(walker, pc) || !derive_call_returns(walker, call, &surely))
		return false;
	if (surely || (derive_gap_at(walker->gaps, next) &&
			  !derive_entry_at(walker->entries, next)))
		return true;
	if (walker->entry->origin & DERIVE_DESCRIBED)
		return true;
	host_cut_at(walker, pc);
	return false;
}

const struct callee_effect *derive_callee(struct derive_walker *walker,
    const struct code_insn *call, const struct code_state *before)
{
	const struct derive_entry *callee;
	uint64_t target = call->target;

	if (call->control == CODE_CALLS_TO && call->via < CODE_SCRATCH &&
	    before->regs[call->via].kind == CODE_CONST)
		target = (uint64_t)before->regs[call->via].off;
	if (!target || (!derive_gap_at(walker->gaps, target) &&
			   (walker->entry->origin & DERIVE_DESCRIBED ||
			       derive_range_at(walker, target) == SIZE_MAX)))
		return NULL;
	derive_note_use(walker, target);
	callee = derive_entry_at(walker->entries, target);
	return callee ? &callee->summary.effect : NULL;
}

/* code_host.kept: the call at pc has returned. */
static void host_called(void *context, uint64_t pc, const struct code_insn *call,
    const struct code_state *before, struct code_state *after)
{
	struct derive_walker *walker = context;
	const struct callee_effect *callee = derive_callee(walker, call, before);
	struct callee_effect effect;

	(void)pc;
	callee_forget_given(walker->abi, before, true, after);
	if (!callee)
		return;
	after->sp_assumed |= callee->how != CALLEE_RETURNS || !callee->surely;
	effect = *callee;
	/* Rows that nothing else confirms do not rely on how much a callee pops. */
	if (effect.how == CALLEE_POPS)
		effect.how = CALLEE_ODD;
	callee_apply(walker->abi, &effect, before, true, after);
}

/* Limit of edges for each byte of code. More can only come from tables that many jumps share. */
enum { HOST_MAX_EDGES = 8 };

/* Adds an edge. False if there are too many, or it repeats the last one. */
static bool host_add_edge(
    struct derive_walker *walker, struct needs_edges *edges, uint64_t from, uint64_t to)
{
	if (edges->n && edges->list[edges->n - 1].from == from &&
	    edges->list[edges->n - 1].to == to)
		return false;
	walker->crowded |= edges->n / HOST_MAX_EDGES >= walker->n_bytes;
	if (!walker->crowded)
		walker->nomem |= !needs_edges_add(edges, from, to);
	return !walker->crowded;
}

/* True if the walk goes on there, as in one function: not into another one that is called, and from a gap
 * not into what has CFI. */
static bool host_goes_on(const struct derive_walker *walker, uint64_t target)
{
	const struct derive_entry *entry = derive_entry_at(walker->entries, target);
	const bool described = walker->entry->origin & DERIVE_DESCRIBED;
	size_t i;

	if (entry && derive_entry_is_function(entry))
		return false;
	if (derive_gap_at(walker->gaps, target))
		return true;
	i = derive_range_at(walker, target);
	return described && i != SIZE_MAX &&
	       walker->input->ranges.list[i].start != target;
}

static void host_leaves(
    void *context, uint64_t pc, uint64_t target, const struct code_state *state)
{
	struct derive_walker *walker = context;
	const struct derive_entry *entry = derive_entry_at(walker->entries, target);
	const struct code_value sp = state->regs[walker->abi->sp];

	if (!host_add_edge(walker, &walker->outs, pc, target))
		return;
	/* A place that is only named is a label if control comes there with a frame, even by a way that is cut
	 * off later. */
	if (!walker->emit && entry && entry->origin == DERIVE_NAMED &&
	    sp.kind == CODE_CFA && sp.off != walker->abi->sp_off &&
	    !derive_entries_add(&walker->found, target, DERIVE_MIXED, NULL))
		walker->nomem = true;
	if (!host_goes_on(walker, target))
		return;
	if (!vec_reserve(&walker->wanted, &walker->cap_wanted, walker->n_wanted + 1))
		walker->nomem = true;
	else
		walker->wanted[walker->n_wanted++] = target;
}

static void host_arrives(void *context, uint64_t from, uint64_t to)
{
	struct derive_walker *walker = context;

	if (from != to)
		(void)host_add_edge(walker, &walker->edges, from, to);
}

/* code_host.seed: the state at an entry that is no function's. */
static bool host_seed(void *context, uint64_t pc, struct code_state *state)
{
	const struct derive_walker *walker = context;

	const struct derive_entry *entry = walker->entry;

	if (pc != entry->addr)
		return false;
	if (!(entry->origin & DERIVE_FRAGMENT) || entry->origin & DERIVE_MIXED ||
	    !validate_seed(walker->input->arch, &entry->row, state))
		code_state_unknown(state);
	state->wary = true;
	return true;
}

struct code_host derive_host(struct derive_walker *walker)
{
	return (struct code_host){.context = walker,
	    .read = host_read,
	    .returns = host_returns,
	    .seed = derive_entry_has_state(walker->entry) ? NULL : host_seed,
	    .leaves = host_leaves,
	    .arrives = host_arrives,
	    .keeps_first = host_keeps_first,
	    .kept = host_called};
}
