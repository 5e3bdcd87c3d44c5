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
	free(paths->again);
	free(paths->targets);
	free(paths);
}

/* Finds where instructions go on behind bytes that are none. On x86-64 they have any length, and
 * the next one is where a way leads to. */
static uint64_t paths_behind_invalid(const struct code_paths *paths,
    const struct code_range *range, size_t offset, uint64_t pc)
{
	if (paths->input->machine != CODE_X86_64)
		return pc + (paths->input->machine == CODE_S390X ? 2 : 4);
	do
		pc++;
	while (pc < range->end && !paths->bytes[offset + (pc - range->start)].walk);
	return pc;
}

/*
 * Marks where jumps go back to, so that no walk goes through there and has to be repeated. It reads
 * bytes that are no instructions, too; a mark that is wrong does no harm.
 */
static bool paths_mark_back(struct code_paths *paths, size_t i)
{
	const struct code_range *range = &paths->input->ranges[i], *to;
	const uint8_t step = paths->input->machine == CODE_X86_64  ? 1
			     : paths->input->machine == CODE_S390X ? 2
								   : 4;

	for (uint64_t pc = range->start; pc < range->end;) {
		const size_t place = (size_t)(paths->offs[i] + (pc - range->start));
		const struct paths_insn *at = code_paths_decode(paths, place, range, pc);

		if (!at)
			return false;
		if (at->valid && (at->insn.control == CODE_JUMPS ||
				     at->insn.control == CODE_BRANCHES)) {
			const size_t target =
			    code_paths_place(paths, at->insn.target, &to);

			if (target < place || (to && to != range))
				paths->bytes[target].back = 1;
		}
		pc += at->valid ? at->insn.length : step;
	}
	return true;
}

/*
 * Seeds code that no way led to, in one range. Where no instruction goes on to bytes that are none, they are
 * data, and so can be what follows: it is left alone up to where a way ends.
 */
static bool paths_seed_range(struct code_paths *paths, size_t i)
{
	const struct code_range *range = &paths->input->ranges[i];
	const struct code_host *host = &paths->input->host;
	bool ended = false, data = false;
	struct code_state state;

	for (uint64_t pc = range->start; pc < range->end;) {
		size_t place = (size_t)(paths->offs[i] + (pc - range->start));
		struct paths_insn *at = code_paths_decode(paths, place, range, pc);

		if (!at)
			return false;
		if (!at->valid) {
			data |= ended;
			pc = paths_behind_invalid(paths, range, paths->offs[i], pc);
			continue;
		}
		data &= !paths->bytes[place].walk;
		paths->seeding = true;
		if (!paths->bytes[place].walk && !data &&
		    (!at->insn.filler || paths->input->wary) &&
		    !(ended && at->insn.barrier) &&
		    host->seed(host->context, pc, &state) &&
		    (!code_paths_arrive(paths, pc, pc, &state) ||
			!code_paths_follow(paths)))
			return false;
		at = code_paths_insn_at(paths, place);
		ended = code_paths_ends(at) ||
			(ended && (at->insn.filler || at->insn.barrier));
		data &= !ended;
		pc += at->insn.length;
	}
	return true;
}

static bool paths_begin(struct code_paths *paths, const struct code_paths_input *input)
{
	uint64_t size = 0;

	paths->input = input;
	paths->abi = code_abi(input->machine);
	paths->n_insns = paths->n_states = paths->n_leaders = 0;
	paths->n_queue = paths->n_waiting = paths->n_again = paths->n_targets = 0;
	paths->loose = paths->progress = paths->tables = paths->seeding = paths->broken =
	    paths->disputed = paths->failed = false;
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
	if (paths->n_bytes)
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
	for (size_t i = 0; i < input->n_ranges; i++)
		if (!paths_mark_back(paths, i))
			return false;
	code_state_entry(paths->abi, &entry);
	entry.wary = input->wary;
	for (size_t i = 0; i < input->n_entries; i++)
		if (!code_paths_arrive(
			paths, input->entries[i], input->entries[i], &entry))
			return false;
	if (!code_paths_follow(paths))
		return false;
	for (size_t i = 0; input->host.seed && i < input->n_ranges; i++)
		if (!paths_seed_range(paths, i))
			return false;
	if (paths->steps == 0)
		return err_set(err, ERR_LIMIT, "too many ways through a function");
	return true;
}

/* Visits the instructions of one leader's walk. */
static bool paths_visit_walk(const struct code_paths *paths, uint32_t leader,
    bool (*visit)(void *context, const struct code_place *place), void *context)
{
	const struct code_range *range;
	struct code_state state;
	uint64_t pc = paths->leaders[leader].pc;
	size_t place = code_paths_place(paths, pc, &range);
	struct code_place at = {.seeded = paths->leaders[leader].seeded, .state = &state};

	code_state_copy(&state, code_paths_state(paths, &paths->leaders[leader]));
	for (;;) {
		const struct paths_insn *decoded;

		if (paths->bytes[place].walk != leader + 1)
			return true;
		decoded = code_paths_insn_at(paths, place);
		at.pc = pc;
		at.insn = &decoded->insn;
		at.ends = code_paths_ends(decoded);
		if (!visit(context, &at))
			return false;
		code_paths_step(paths, &state, pc, &decoded->insn);
		at.quiet = code_insn_is_quiet(&decoded->insn, paths->abi);
		if (decoded->insn.control == CODE_BRANCHES) {
			/* A branch can tell where SP is. */
			at.quiet = at.quiet && state.compared != paths->abi->sp &&
				   state.compared_with != paths->abi->sp;
			code_state_branch(&state, paths->abi, &decoded->insn, false);
		}
		pc += decoded->insn.length;
		place += decoded->insn.length;
		/* Control that goes on to another range comes to a leader. */
		if (pc >= range->end || paths->bytes[place].leader)
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

bool code_paths_is_loose(const struct code_paths *paths)
{
	return paths->loose;
}

bool code_paths_is_broken(const struct code_paths *paths)
{
	return paths->broken;
}

bool code_paths_is_disputed(const struct code_paths *paths)
{
	return paths->disputed;
}
