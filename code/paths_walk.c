/* SPDX-License-Identifier: MIT */
/* Follows the code from leader to leader. */
#include "code/paths_internal.h"

/* Follows exceptions that a call at pc lets through to their landing pads. */
static bool paths_land(
    struct code_paths *paths, uint64_t pc, const struct code_state *state)
{
	const struct code_paths_input *input = paths->input;
	size_t low = 0, high = input->n_landings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (input->landings[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == input->n_landings || pc < input->landings[low].start)
		return true;
	return code_paths_arrive(paths, pc, input->landings[low].pad, state);
}

/* The first instruction from pc on that does something. */
static bool paths_behind_fillers(
    struct code_paths *paths, const struct code_range *range, size_t place, uint64_t *pc)
{
	const struct paths_insn *at;

	for (; *pc < range->end; place += at->insn.length, *pc += at->insn.length) {
		at = code_paths_decode(paths, place, range, *pc);
		if (!at)
			return false;
		if (!at->valid || !at->insn.filler)
			break;
	}
	return true;
}

/* True if the call returns. Asked once: a function is followed in one way. */
static bool paths_returns(struct code_paths *paths, const struct code_range *range,
    size_t place, uint64_t pc, const struct code_state *state)
{
	const struct code_host *host = &paths->input->host;
	struct paths_insn *call = code_paths_insn_at(paths, place);
	const uint8_t length = call->insn.length;
	uint64_t next = pc + length;

	if (!call->returns) {
		if (!paths_behind_fillers(paths, range, place + length, &next))
			return false;
		/* Decoding has moved the call. */
		call = code_paths_insn_at(paths, place);
		call->returns = host->returns(host->context, pc, &call->insn, next, state)
				    ? PATHS_CALL_RETURNS
				    : PATHS_CALL_STOPS;
	}
	return call->returns == PATHS_CALL_RETURNS;
}

/* True if control goes on behind the instruction, whose state is that after it. */
static bool paths_continues(struct code_paths *paths, const struct code_range *range,
    size_t place, uint64_t pc, const struct code_state *state)
{
	switch ((enum code_control)code_paths_insn_at(paths, place)->insn.control) {
	case CODE_CONTINUES:
	case CODE_BRANCHES:
	case CODE_BRANCHES_TO:
		return true;
	case CODE_CALLS:
	case CODE_CALLS_TO:
		return paths_returns(paths, range, place, pc, state);
	case CODE_JUMPS:
	case CODE_JUMPS_TO:
	case CODE_RETURNS:
	case CODE_STOPS:
		break;
	}
	return false;
}

/* Follows control to wherever it goes besides the next instruction. */
static bool paths_departs(struct code_paths *paths, uint32_t leader, uint64_t pc,
    const struct code_insn *insn, const struct code_state *state)
{
	struct code_state jumped;

	switch ((enum code_control)insn->control) {
	case CODE_JUMPS:
		return code_paths_arrive(paths, pc, insn->target, state);
	case CODE_BRANCHES:
		code_state_copy(&jumped, state);
		code_state_branch(&jumped, paths->abi, insn, true);
		return code_paths_arrive(paths, pc, insn->target, &jumped);
	case CODE_JUMPS_TO:
	case CODE_BRANCHES_TO:
		return code_paths_jump_to(paths, leader, pc, insn, state);
	case CODE_CALLS:
	case CODE_CALLS_TO:
		return paths_land(paths, pc, state);
	case CODE_CONTINUES:
	case CODE_RETURNS:
	case CODE_STOPS:
		break;
	}
	return true;
}

/* Follows control behind the instruction at pc, which has changed the state. *goes_on: to
 * the next instruction. */
static bool paths_leave(struct code_paths *paths, uint32_t leader,
    const struct code_range *range, size_t place, uint64_t pc, struct code_state *state,
    bool *goes_on)
{
	const struct code_insn *insn = &code_paths_insn_at(paths, place)->insn;

	/* Following a way decodes nothing, so insn stays where it is. */
	if (!paths_departs(paths, leader, pc, insn, state))
		return false;
	if (insn->control == CODE_BRANCHES)
		code_state_branch(state, paths->abi, insn, false);
	*goes_on = paths_continues(paths, range, place, pc, state);
	return !paths->failed;
}

/* True if nothing but zeros is left, with which Go and linkers fill AArch64's functions up behind a last call. */
static bool paths_is_filled(const struct code_range *range, uint64_t pc)
{
	while (
	    range->end - pc < 16 && pc < range->end && !range->bytes[pc - range->start])
		pc++;
	return pc == range->end;
}

/* Follows the code from a leader to the next, or to where control does not go on. */
static bool paths_walk(struct code_paths *paths, uint32_t leader)
{
	const struct code_range *range;
	struct code_state state;
	uint64_t pc = paths->leaders[leader].pc;
	size_t place = code_paths_place(paths, pc, &range);

	paths->seeding = paths->leaders[leader].seeded;
	code_state_copy(&state, code_paths_state(paths, &paths->leaders[leader]));
	for (;;) {
		struct paths_insn *at = code_paths_decode(paths, place, range, pc);
		const uint64_t from = pc;
		const size_t there = place;
		bool goes_on;

		if (!at)
			return false;
		if (!at->valid || paths->steps == 0) {
			paths->broken |= !at->valid && !paths_is_filled(range, pc);
			return true;
		}
		paths->steps--;
		paths->bytes[place].walk = (leader + 1) & INT32_MAX;
		pc += at->insn.length;
		place += at->insn.length;
		/* Asked each time: the number may turn out not to be known. */
		if (at->insn.system)
			at->returns = code_state_gives_back(&state, paths->abi, &at->insn)
					  ? PATHS_CALL_STOPS
					  : PATHS_CALL_RETURNS;
		goes_on = at->returns != PATHS_CALL_STOPS;
		code_paths_step(paths, &state, from, &at->insn);
		if (at->insn.control != CODE_CONTINUES &&
		    !paths_leave(paths, leader, range, there, from, &state, &goes_on))
			return false;
		if (!goes_on)
			return true;
		if (pc >= range->end || paths->bytes[place].leader ||
		    paths->bytes[place].back)
			return code_paths_arrive(paths, from, pc, &state);
		/* Another walk came here from the middle of an instruction: both meet. */
		if (paths->bytes[place].walk && paths->bytes[place].walk != leader + 1 &&
		    paths->bytes[place].walk != paths->leaders[leader].before)
			return code_paths_arrive(paths, from, pc, &state);
	}
}

bool code_paths_follow(struct code_paths *paths)
{
	for (;;) {
		while (paths->n_queue)
			if (!paths_walk(paths, code_paths_pop(paths)))
				return false;
		/* Tables come last, so that what they lead to can be judged by all else. */
		paths->tables = true;
		if (!paths->n_waiting && paths->progress) {
			paths->progress = false;
			while (paths->n_again)
				if (!code_paths_push(
					paths, paths->again[--paths->n_again]))
					return false;
			continue;
		}
		if (!paths->n_waiting)
			return true;
		while (paths->n_waiting)
			if (!code_paths_push(paths, paths->waiting[--paths->n_waiting]))
				return false;
	}
}
