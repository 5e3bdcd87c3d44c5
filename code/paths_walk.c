/* SPDX-License-Identifier: MIT */
/* Follows the code from leader to leader. */
#include "code/paths_internal.h"

#include "base/vec.h"

/* The target of entry i of a table. False where it cannot be one. */
static bool paths_table_target(const struct code_paths *paths,
    const struct code_table *table, uint32_t i, uint64_t *target)
{
	const struct code_range *range;
	uint64_t value, sign;
	size_t place;

	if (!paths->input->host.read(paths->input->host.context,
		table->at + (uint64_t)i * table->width, table->width, &value))
		return false;
	sign = UINT64_C(1) << (table->width * 8 - 1);
	if (table->is_signed && table->width < 8)
		value = (value ^ sign) - sign;
	*target = table->start + (value << table->shift);
	place = code_paths_place(paths, *target, &range);
	/* Not into the middle of an instruction that is known. */
	for (size_t back = 1; place != SIZE_MAX && back < 16 && back <= place; back++)
		if (paths->bytes[place - back].walk &&
		    code_paths_insn_at(paths, place - back)->insn.length > back &&
		    !paths->bytes[place].walk)
			return false;
	return true;
}

/* All entries of the table, or none when one of them cannot be. */
static bool paths_jump_by_table(
    struct code_paths *paths, uint64_t pc, const struct code_state *state)
{
	const struct code_table table = state->table;
	uint64_t target;

	for (uint32_t i = 0; i < table.n; i++)
		if (!paths_table_target(paths, &table, i, &target)) {
			paths->open = true;
			return true;
		}
	paths->steps += table.n;
	for (uint32_t i = 0; i < table.n; i++)
		if (!paths_table_target(paths, &table, i, &target) ||
		    !code_paths_arrive(paths, pc, target, state))
			return !paths->failed;
	return true;
}

static bool paths_jump_to(struct code_paths *paths, uint32_t leader, uint64_t pc,
    const struct code_insn *insn, const struct code_state *state)
{
	const struct code_value via = state->regs[insn->via];

	if (via.kind == CODE_CONST)
		return code_paths_arrive(paths, pc, (uint64_t)via.off, state);
	if (via.kind != CODE_TABLE) {
		/* A tail call leaves no frame behind. */
		const struct code_value sp = state->regs[paths->abi->sp];

		if (sp.kind != CODE_CFA || sp.off != paths->abi->sp_off)
			paths->open = true;
		return true;
	}
	if (paths->tables)
		return paths_jump_by_table(paths, pc, state);
	if (!vec_reserve(&paths->waiting, &paths->cap_waiting, paths->n_waiting + 1))
		return code_paths_fail(paths);
	paths->waiting[paths->n_waiting++] = leader;
	return true;
}

/* Where exceptions continue that a call at pc lets through. */
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
static uint64_t paths_behind_fillers(
    const struct code_paths *paths, const struct code_range *range, uint64_t pc)
{
	struct code_insn insn;

	while (pc < range->end &&
	       code_insn_read(paths->input->machine, range->bytes + (pc - range->start),
		   range->readable - (pc - range->start), pc, &insn) &&
	       insn.filler)
		pc += insn.length;
	return pc;
}

/* Whether control goes on behind the instruction, whose state is that after it. */
static bool paths_continues(struct code_paths *paths, const struct code_range *range,
    struct paths_insn *at, uint64_t pc, const struct code_state *state)
{
	const struct code_host *host = &paths->input->host;

	switch ((enum code_control)at->insn.control) {
	case CODE_CONTINUES:
	case CODE_BRANCHES:
	case CODE_BRANCHES_TO:
		return true;
	case CODE_CALLS:
	case CODE_CALLS_TO:
		/* Asked once: a function is followed in one way. */
		if (!at->returns)
			at->returns =
			    host->returns(host->context, pc, &at->insn,
				paths_behind_fillers(paths, range, pc + at->insn.length),
				state)
				? PATHS_CALL_RETURNS
				: PATHS_CALL_STOPS;
		return at->returns == PATHS_CALL_RETURNS;
	case CODE_JUMPS:
	case CODE_JUMPS_TO:
	case CODE_RETURNS:
	case CODE_STOPS:
		break;
	}
	return false;
}

/* Where control goes besides the next instruction. */
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
		return paths_jump_to(paths, leader, pc, insn, state);
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

/* Follows the code from a leader to the next, or to where control does not go on. */
static bool paths_walk(struct code_paths *paths, uint32_t leader)
{
	const struct code_range *range;
	struct code_state state;
	uint64_t pc = paths->leaders[leader].pc;

	code_state_copy(&state, code_paths_state(paths, &paths->leaders[leader]));
	for (;;) {
		size_t place = code_paths_place(paths, pc, &range);
		struct paths_insn *at = code_paths_decode(paths, place, range, pc);
		uint64_t next;
		bool goes_on;

		if (!at)
			return false;
		if (!at->valid || paths->steps == 0)
			return true;
		paths->steps--;
		paths->bytes[place].walk = leader + 1;
		next = pc + at->insn.length;
		code_state_step(&state, paths->abi, pc, &at->insn);
		/* Storing can move what at points to: nothing is decoded meanwhile. */
		if (!paths_departs(paths, leader, pc, &at->insn, &state))
			return false;
		goes_on = paths_continues(paths, range, at, pc, &state);
		if (at->insn.control == CODE_BRANCHES)
			code_state_branch(&state, paths->abi, &at->insn, false);
		if (!goes_on)
			return true;
		if (next >= range->end)
			return code_paths_arrive(paths, pc, next, &state);
		place += at->insn.length;
		if (paths->bytes[place].leader)
			return code_paths_arrive(paths, pc, next, &state);
		/* Another walk came here from the middle of an instruction: both meet. */
		if (paths->bytes[place].walk && paths->bytes[place].walk != leader + 1 &&
		    paths->bytes[place].walk != paths->leaders[leader].before)
			return code_paths_arrive(paths, pc, next, &state);
		pc = next;
	}
}

bool code_paths_follow(struct code_paths *paths)
{
	for (;;) {
		while (paths->n_queue)
			if (!paths_walk(paths, code_paths_pop(paths)))
				return false;
		if (!paths->n_waiting)
			return true;
		/* Tables come last, so that what they lead to can be judged by all else. */
		paths->tables = true;
		while (paths->n_waiting)
			if (!code_paths_push(paths, paths->waiting[--paths->n_waiting]))
				return false;
	}
}
