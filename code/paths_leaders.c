/* SPDX-License-Identifier: MIT */
/* Instructions, leaders and their states, as an analysis keeps them. */
#include "code/paths_internal.h"

#include "base/vec.h"

bool code_paths_fail(struct code_paths *paths)
{
	paths->failed = true;
	return err_set_nomem(paths->err);
}

size_t code_paths_place(
    const struct code_paths *paths, uint64_t pc, const struct code_range **range)
{
	const struct code_paths_input *input = paths->input;
	size_t low = 0, high = input->n_ranges;

	/* Most functions consist of one range. */
	*range = NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (input->ranges[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == input->n_ranges || pc < input->ranges[low].start)
		return SIZE_MAX;
	*range = &input->ranges[low];
	return (size_t)(paths->offs[low] + (pc - input->ranges[low].start));
}

const struct code_state *code_paths_state(
    const struct code_paths *paths, const struct paths_leader *leader)
{
	return (const struct code_state *)&paths->states[leader->state];
}

/* Keeps a state for the leader; moves it where it has become larger. */
static bool paths_keep(
    struct code_paths *paths, struct paths_leader *leader, const struct code_state *state)
{
	if (leader->cap < state->n_slots || leader->cap == 0) {
		uint8_t cap = (uint8_t)(state->n_slots + 4);
		size_t size =
		    offsetof(struct code_state, slots) + cap * sizeof(state->slots[0]);
		size_t units =
		    (size + sizeof(*paths->states) - 1) / sizeof(*paths->states);

		if (!vec_reserve(
			&paths->states, &paths->cap_states, paths->n_states + units))
			return code_paths_fail(paths);
		leader->state = paths->n_states;
		leader->cap = cap;
		paths->n_states += units;
	}
	code_state_copy((struct code_state *)&paths->states[leader->state], state);
	return true;
}

struct paths_insn *code_paths_insn_at(const struct code_paths *paths, size_t place)
{
	return (struct paths_insn *)&paths->insns[paths->bytes[place].insn - 1];
}

/* Adds the effects of the instruction that this one executes, if its bytes can be read. */
static void paths_execute(const struct code_paths *paths, struct code_insn *insn)
{
	const struct code_host *host = &paths->input->host;
	uint8_t bytes[CODE_EXECUTED_BYTES];

	for (uint8_t i = 0; i < CODE_EXECUTED_BYTES; i++) {
		uint64_t value;

		if (!host->read(host->context, insn->target + i, 1, &value))
			return;
		bytes[i] = (uint8_t)value;
	}
	code_insn_execute(paths->input->machine, bytes, insn);
}

struct paths_insn *code_paths_decode(
    struct code_paths *paths, size_t place, const struct code_range *range, uint64_t pc)
{
	const size_t most = (sizeof(struct paths_insn) + sizeof(*paths->insns) - 1) /
			    sizeof(*paths->insns);
	struct paths_insn *decoded;
	size_t size;

	if (paths->bytes[place].insn)
		return code_paths_insn_at(paths, place);
	if (!vec_reserve(&paths->insns, &paths->cap_insns, paths->n_insns + most)) {
		(void)code_paths_fail(paths);
		return NULL;
	}
	paths->bytes[place].insn = (uint32_t)paths->n_insns + 1;
	decoded = code_paths_insn_at(paths, place);
	decoded->returns = 0;
	decoded->valid =
	    code_insn_read(paths->input->machine, range->bytes + (pc - range->start),
		range->readable - (pc - range->start), pc, &decoded->insn);
	if (decoded->valid && decoded->insn.executes)
		paths_execute(paths, &decoded->insn);
	size = offsetof(struct paths_insn, insn.effects) +
	       decoded->insn.n_effects * sizeof(decoded->insn.effects[0]);
	paths->n_insns += (size + sizeof(*paths->insns) - 1) / sizeof(*paths->insns);
	return decoded;
}

void code_paths_step(const struct code_paths *paths, struct code_state *state,
    uint64_t pc, const struct code_insn *insn)
{
	const struct code_host *host = &paths->input->host;
	const bool calls = insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO;
	const struct code_value first = state->regs[0];
	bool kept =
	    calls && host->keeps_first && host->keeps_first(host->context, insn, state);
	struct code_state before;

	if (calls && host->kept)
		code_state_copy(&before, state);
	code_state_step(state, paths->abi, pc, insn);
	if (kept)
		state->regs[0] = first;
	if (calls && host->kept)
		host->kept(host->context, pc, insn, &before, state);
}

/* Orders leaders by address. Most jumps go forward, so a leader's other ways have mostly
 * been followed when its turn comes. */
static bool paths_before(const struct code_paths *paths, size_t a, size_t b)
{
	return paths->leaders[paths->queue[a]].pc < paths->leaders[paths->queue[b]].pc;
}

static void paths_swap(struct code_paths *paths, size_t a, size_t b)
{
	uint32_t leader = paths->queue[a];

	paths->queue[a] = paths->queue[b];
	paths->queue[b] = leader;
}

bool code_paths_push(struct code_paths *paths, uint32_t leader)
{
	size_t at;

	if (paths->leaders[leader].queued)
		return true;
	if (!vec_reserve(&paths->queue, &paths->cap_queue, paths->n_queue + 1))
		return code_paths_fail(paths);
	paths->leaders[leader].queued = true;
	at = paths->n_queue++;
	paths->queue[at] = leader;
	for (; at && paths_before(paths, at, (at - 1) / 2); at = (at - 1) / 2)
		paths_swap(paths, at, (at - 1) / 2);
	return true;
}

/* Takes the lowest leader of the queue, which is not empty. */
uint32_t code_paths_pop(struct code_paths *paths)
{
	uint32_t leader = paths->queue[0];
	size_t at = 0;

	paths->queue[0] = paths->queue[--paths->n_queue];
	for (;;) {
		size_t least = at, child = 2 * at + 1;

		for (size_t i = child; i < child + 2 && i < paths->n_queue; i++)
			if (paths_before(paths, i, least))
				least = i;
		if (least == at)
			break;
		paths_swap(paths, at, least);
		at = least;
	}
	paths->leaders[leader].queued = false;
	return leader;
}

/*
 * True if a seeded state comes from another range, and fits the leader when the leader's own state does not.
 * A branch that is never taken can lead to the end of its function, which is the first byte of another one's
 * part: a compiler writes one where the source says that it is not reached. Only the seeded state shows then
 * that two functions come there.
 */
static bool paths_fits_better(const struct code_paths *paths, uint64_t from,
    const struct code_range *range, const struct paths_leader *leader,
    const struct code_state *state)
{
	const struct code_host *host = &paths->input->host;

	return (from < range->start || from >= range->end) && host->contradicts &&
	       host->contradicts(
		   host->context, leader->pc, code_paths_state(paths, leader)) &&
	       !host->contradicts(host->context, leader->pc, state);
}

static bool paths_new_leader(
    struct code_paths *paths, size_t place, uint64_t pc, const struct code_state *state)
{
	struct paths_leader *leader;
	uint32_t walk = paths->bytes[place].walk;

	/* The code has been walked: the walk that did must end here now. */
	if (walk && paths->seeding && !paths->leaders[walk - 1].seeded) {
		paths->disputed = true;
		return true;
	}
	if (!vec_reserve(&paths->leaders, &paths->cap_leaders, paths->n_leaders + 1))
		return code_paths_fail(paths);
	leader = &paths->leaders[paths->n_leaders++];
	*leader =
	    (struct paths_leader){.pc = pc, .seeded = paths->seeding, .before = walk};
	paths->bytes[place].leader = (uint32_t)paths->n_leaders;
	return paths_keep(paths, leader, state) &&
	       code_paths_push(paths, (uint32_t)paths->n_leaders - 1) &&
	       (!walk || code_paths_push(paths, walk - 1));
}

/* True if what both states keep of the stack has room where the leader's is. */
static bool paths_fits(const struct paths_leader *leader, const struct code_state *mine,
    const struct code_state *other)
{
	return mine->n_slots + other->n_slots <= leader->cap ||
	       (mine->n_slots == other->n_slots &&
		   mine->memory_unknown == other->memory_unknown &&
		   !memcmp(mine->slots, other->slots,
		       mine->n_slots * sizeof(mine->slots[0])));
}

bool code_paths_arrive(
    struct code_paths *paths, uint64_t from, uint64_t pc, const struct code_state *state)
{
	const struct code_range *range;
	size_t place = code_paths_place(paths, pc, &range);
	struct paths_leader *leader;
	struct code_state *mine, joined;

	if (place == SIZE_MAX) {
		if (paths->input->host.leaves)
			paths->input->host.leaves(
			    paths->input->host.context, from, pc, state);
		return true;
	}
	if (paths->input->host.arrives)
		paths->input->host.arrives(paths->input->host.context, from, pc);
	if (!paths->bytes[place].leader)
		return paths_new_leader(paths, place, pc, state);
	leader = &paths->leaders[paths->bytes[place].leader - 1];
	mine = (struct code_state *)&paths->states[leader->state];
	if (paths->seeding == leader->seeded && paths_fits(leader, mine, state))
		return !code_state_meet(mine, state) ||
		       code_paths_push(paths, paths->bytes[place].leader - 1);
	code_state_copy(&joined, mine);
	if (!code_state_meet(&joined, state))
		return true;
	if (paths->seeding && !leader->seeded) {
		paths->disputed = true;
		if (!paths_fits_better(paths, from, range, leader, state))
			return true;
	}
	return paths_keep(paths, leader, &joined) &&
	       code_paths_push(paths, paths->bytes[place].leader - 1);
}
