/* SPDX-License-Identifier: MIT */
/* One function after the other: entries, then code that no way leads to, then the results. */
#include "code/paths_internal.h"

#include <stdlib.h>

#include "base/vec.h"

struct code_paths *code_paths_new(void)
{
	return calloc(1, sizeof(struct code_paths));
}

void code_paths_free(struct code_paths *paths)
{
	if (!paths)
		return;
	free(paths->bytes);
	free(paths->offs);
	free(paths->insns);
	free(paths->states);
	free(paths->leaders);
	free(paths->queue);
	free(paths->waiting);
	free(paths);
}

/* Code that no way led to, in one range. */
static bool paths_seed_range(struct code_paths *paths, size_t i)
{
	const struct code_range *range = &paths->input->ranges[i];
	const struct code_host *host = &paths->input->host;
	size_t step = paths->input->machine == CODE_X86_64  ? 1
		      : paths->input->machine == CODE_S390X ? 2
							    : 4;
	struct code_state state;

	for (uint64_t pc = range->start; pc < range->end;) {
		size_t place = (size_t)(paths->offs[i] + (pc - range->start));
		struct paths_insn *at = code_paths_decode(paths, place, range, pc);

		if (!at)
			return false;
		if (!at->valid) {
			pc += step;
			continue;
		}
		if (!paths->bytes[place].walk && !at->insn.filler &&
		    host->seed(host->context, pc, &state) &&
		    (!code_paths_arrive(paths, pc, pc, &state) ||
			!code_paths_follow(paths)))
			return false;
		pc += code_paths_insn_at(paths, place)->insn.length;
	}
	return true;
}

static bool paths_begin(struct code_paths *paths, const struct code_paths_input *input)
{
	uint64_t size = 0;

	paths->input = input;
	paths->abi = code_abi(input->machine);
	paths->n_insns = paths->n_states = paths->n_leaders = 0;
	paths->n_queue = paths->n_waiting = 0;
	paths->tables = paths->seeding = paths->open = paths->disputed = paths->failed =
	    false;
	if (!vec_reserve(&paths->offs, &paths->cap_offs, input->n_ranges))
		return code_paths_fail(paths);
	for (size_t i = 0; i < input->n_ranges; i++) {
		paths->offs[i] = size;
		size += input->ranges[i].end - input->ranges[i].start;
		if (size > CODE_PATHS_MAX_BYTES)
			return err_set(paths->err, ERR_LIMIT,
			    "a function of more than %u bytes",
			    (unsigned)CODE_PATHS_MAX_BYTES);
	}
	if (!vec_reserve(&paths->bytes, &paths->cap_bytes, (size_t)size))
		return code_paths_fail(paths);
	paths->n_bytes = (size_t)size;
	memset(paths->bytes, 0, paths->n_bytes * sizeof(*paths->bytes));
	paths->steps = size * CODE_PATHS_MAX_STEPS;
	return true;
}

bool code_paths_run(
    struct code_paths *paths, const struct code_paths_input *input, struct err *err)
{
	struct code_state entry;

	paths->err = err;
	if (!paths_begin(paths, input))
		return false;
	code_state_entry(paths->abi, &entry);
	for (size_t i = 0; i < input->n_entries; i++)
		if (!code_paths_arrive(
			paths, input->entries[i], input->entries[i], &entry))
			return false;
	if (!code_paths_follow(paths))
		return false;
	paths->seeding = true;
	for (size_t i = 0; input->host.seed && i < input->n_ranges; i++)
		if (!paths_seed_range(paths, i))
			return false;
	if (paths->steps == 0)
		return err_set(err, ERR_LIMIT, "too many ways through a function");
	return true;
}

/* The instructions of one leader's walk. */
static bool paths_visit_walk(const struct code_paths *paths, uint32_t leader,
    bool (*visit)(void *context, const struct code_place *place), void *context)
{
	const struct code_range *range;
	struct code_state state;
	uint64_t pc = paths->leaders[leader].pc;
	struct code_place at = {.seeded = paths->leaders[leader].seeded, .state = &state};

	code_state_copy(&state, code_paths_state(paths, &paths->leaders[leader]));
	for (;;) {
		size_t place = code_paths_place(paths, pc, &range);
		const struct paths_insn *decoded;

		if (place == SIZE_MAX || paths->bytes[place].walk != leader + 1)
			return true;
		decoded = code_paths_insn_at(paths, place);
		at.pc = pc;
		at.insn = &decoded->insn;
		if (!visit(context, &at))
			return false;
		code_state_step(&state, paths->abi, pc, &decoded->insn);
		if (decoded->insn.control == CODE_BRANCHES)
			code_state_branch(&state, paths->abi, &decoded->insn, false);
		pc += decoded->insn.length;
		place = code_paths_place(paths, pc, &range);
		if (place == SIZE_MAX || paths->bytes[place].leader)
			return true;
	}
}

bool code_paths_visit(const struct code_paths *paths,
    bool (*visit)(void *context, const struct code_place *place), void *context)
{
	for (size_t i = 0; i < paths->n_bytes; i++)
		if (paths->bytes[i].leader &&
		    !paths_visit_walk(paths, paths->bytes[i].leader - 1, visit, context))
			return false;
	return true;
}

bool code_paths_is_open(const struct code_paths *paths)
{
	return paths->open;
}

bool code_paths_is_disputed(const struct code_paths *paths)
{
	return paths->disputed;
}
