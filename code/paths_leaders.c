/* SPDX-License-Identifier: MIT */
/* Instructions, leaders and their states, as an analysis keeps them. */
#include "code/paths_internal.h"

#include "base/vec.h"

bool code_paths_fail(struct code_paths *paths)
{
	paths->failed = true;
	return err_set_nomem(paths->err);
}

/* The byte's place in paths->bytes, and the range of pc. SIZE_MAX: pc is in none. */
size_t code_paths_place(
    const struct code_paths *paths, uint64_t pc, const struct code_range **range)
{
	const struct code_paths_input *input = paths->input;
	size_t low = 0, high = input->n_ranges;

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

/* The instruction at pc, decoded once. NULL: out of memory. */
struct paths_insn *code_paths_decode(
    struct code_paths *paths, size_t place, const struct code_range *range, uint64_t pc)
{
	struct paths_insn decoded = {0};
	size_t size, units;

	if (paths->bytes[place].insn)
		return code_paths_insn_at(paths, place);
	decoded.valid =
	    code_insn_read(paths->input->machine, range->bytes + (pc - range->start),
		range->readable - (pc - range->start), pc, &decoded.insn);
	size = offsetof(struct paths_insn, insn.effects) +
	       decoded.insn.n_effects * sizeof(decoded.insn.effects[0]);
	units = (size + sizeof(*paths->insns) - 1) / sizeof(*paths->insns);
	if (!vec_reserve(&paths->insns, &paths->cap_insns, paths->n_insns + units)) {
		(void)code_paths_fail(paths);
		return NULL;
	}
	paths->bytes[place].insn = (uint32_t)paths->n_insns + 1;
	memcpy(&paths->insns[paths->n_insns], &decoded, size);
	paths->n_insns += units;
	return code_paths_insn_at(paths, place);
}

/* Most jumps go forward. So a leader's other ways have mostly been followed when its turn comes. */
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

/* Control comes from the instruction at from to pc with this state. */
bool code_paths_arrive(
    struct code_paths *paths, uint64_t from, uint64_t pc, const struct code_state *state)
{
	const struct code_range *range;
	size_t place = code_paths_place(paths, pc, &range);
	struct paths_leader *leader;
	struct code_state joined;

	if (place == SIZE_MAX) {
		if (paths->input->host.leaves)
			paths->input->host.leaves(paths->input->host.context, from, pc);
		return true;
	}
	if (!paths->bytes[place].leader)
		return paths_new_leader(paths, place, pc, state);
	leader = &paths->leaders[paths->bytes[place].leader - 1];
	code_state_copy(&joined, code_paths_state(paths, leader));
	if (!code_state_meet(&joined, state))
		return true;
	if (paths->seeding && !leader->seeded) {
		paths->disputed = true;
		return true;
	}
	return paths_keep(paths, leader, &joined) &&
	       code_paths_push(paths, paths->bytes[place].leader - 1);
}
