/* SPDX-License-Identifier: MIT */
/* Finds where jumps to an address in a register go: tables of targets. */
#include "code/paths_internal.h"

#include "base/vec.h"

/* Bytes between functions or blocks, and the longest instruction. */
enum { PATHS_MAX_PADDING = 80 };

/* Returns the address behind the filler at pc; pc where there is none. */
static uint64_t paths_filler_end(
    const struct code_paths *paths, const struct code_range *range, uint64_t pc)
{
	struct code_insn insn;

	if (pc < range->end &&
	    code_insn_read(paths->input->machine, range->bytes + (pc - range->start),
		range->readable - (pc - range->start), pc, &insn) &&
	    insn.filler)
		pc += insn.length;
	return pc;
}

/* Work beside that of following instructions counts, too. */
static void paths_charge(struct code_paths *paths, uint64_t steps)
{
	paths->steps -= steps < paths->steps ? steps : paths->steps;
}

static bool paths_defer(
    struct code_paths *paths, uint32_t **list, size_t *n, size_t *cap, uint32_t leader)
{
	if (!vec_reserve(list, cap, *n + 1))
		return code_paths_fail(paths);
	(*list)[(*n)++] = leader;
	return true;
}

/*
 * True if nothing bounds the index but its bits: a byte, or those of a mask. A compiler that knows
 * more writes fewer entries, so the words read behind them belong to another table.
 */
static bool paths_table_is_loose(const struct code_table *table)
{
	return !table->compared && table->n >= 8 && (table->n & (table->n - 1)) == 0;
}

/* Targets of a table that are kept for the next jump by it. */
enum { PATHS_MAX_TARGETS = UINT16_MAX };

/* Opens a table, or goes on with the open one: the interpreter of a language jumps by one
 * table from many places. */
static void paths_table_open(struct code_paths *paths, const struct code_table *table)
{
	if (paths->table.at != table->at || paths->table.start != table->start ||
	    paths->table.width != table->width || paths->table.shift != table->shift ||
	    paths->table.is_signed != table->is_signed)
		paths->n_targets = 0;
	paths->table = *table;
}

/* The target of entry i of the open table. False: there is none. */
static bool paths_table_read(struct code_paths *paths, uint32_t i, uint64_t *target)
{
	const struct code_table *table = &paths->table;
	uint64_t value, sign;

	if (i < paths->n_targets) {
		*target = paths->targets[i];
		return true;
	}
	if (!paths->input->host.read(paths->input->host.context,
		table->at + (uint64_t)i * table->width, table->width, &value))
		return false;
	sign = UINT64_C(1) << (table->width * 8 - 1);
	if (table->is_signed && table->width < 8)
		value = (value ^ sign) - sign;
	*target = table->start + (value << table->shift);
	/* Without memory for the target, it is read again. */
	if (i == paths->n_targets && i < PATHS_MAX_TARGETS &&
	    vec_reserve(&paths->targets, &paths->cap_targets, (size_t)i + 1))
		paths->targets[paths->n_targets++] = *target;
	return true;
}

/* True if the place is in the middle of an instruction that is known. */
static bool paths_is_inside(const struct code_paths *paths, size_t place)
{
	if (paths->bytes[place].walk)
		return false;
	for (size_t back = 1; back < 16 && back <= place; back++)
		if (paths->bytes[place - back].walk &&
		    code_paths_insn_at(paths, place - back)->insn.length > back)
			return true;
	return false;
}

/* The target of entry i of the open table. False where it cannot be one. */
static bool paths_table_target(struct code_paths *paths, uint32_t i, uint64_t *target)
{
	const struct code_range *range;
	size_t place;

	if (!paths_table_read(paths, i, target))
		return false;
	place = code_paths_place(paths, *target, &range);
	if (place == SIZE_MAX)
		return !paths_table_is_loose(&paths->table);
	/* A host that does not know where tables end has the jump judged by all of its ways. */
	return !paths->input->host.entries || !paths_is_inside(paths, place);
}

bool code_paths_ends(const struct paths_insn *at)
{
	return code_insn_ends(&at->insn) || at->returns == PATHS_CALL_STOPS;
}

/* True if an instruction begins at target: one that is known, or the first one behind one at which
 * a way ends. */
static bool paths_begins_at(const struct code_paths *paths, uint64_t target)
{
	const struct code_range *range;
	size_t place = code_paths_place(paths, target, &range);

	if (place == SIZE_MAX || paths->bytes[place].walk)
		return place != SIZE_MAX;
	/* Padding stands in front of a target, so no target begins with it. */
	if (paths_filler_end(paths, range, target) > target)
		return false;
	for (size_t back = 1; back <= PATHS_MAX_PADDING && back <= target - range->start;
	     back++) {
		const struct paths_insn *at;
		uint64_t end;

		if (!paths->bytes[place - back].walk)
			continue;
		at = code_paths_insn_at(paths, place - back);
		end = target - back + at->insn.length;
		while (end < target && paths_filler_end(paths, range, end) > end)
			end = paths_filler_end(paths, range, end);
		return end == target && code_paths_ends(at);
	}
	return false;
}

/*
 * Jumps by a table whose index has no bound, and which reaches to the next address that
 * the code refers to. Those entries count that lead to where an instruction must begin.
 * More may do so once the ways from them have been followed.
 */
static bool paths_jump_by_open_table(struct code_paths *paths, uint32_t leader,
    uint64_t pc, const struct code_state *state)
{
	const struct code_host *host = &paths->input->host;
	struct code_table table = state->table;
	size_t n_leaders = paths->n_leaders;
	uint64_t target;

	paths->loose = true;
	if (paths->input->strict)
		return true;
	table.n = host->entries(host->context, table.at, table.width);
	paths_charge(paths, table.n);
	paths_table_open(paths, &table);
	for (uint32_t i = 0; i < table.n; i++) {
		if (!paths_table_target(paths, i, &target) ||
		    !paths_begins_at(paths, target))
			continue;
		if (!code_paths_arrive(paths, pc, target, state))
			return false;
	}
	paths->progress |= paths->n_leaders > n_leaders;
	return paths_defer(
	    paths, &paths->again, &paths->n_again, &paths->cap_again, leader);
}

/* Jumps to all entries of the table, or to none when one of them cannot be a target. */
static bool paths_jump_by_table(
    struct code_paths *paths, uint64_t pc, const struct code_state *state)
{
	struct code_table table = state->table;
	bool loose = paths_table_is_loose(&table);
	uint64_t target, last = 0;

	if (loose && paths->input->strict)
		return true;
	paths->loose |= loose;
	if (loose && paths->input->host.entries) {
		uint32_t most = paths->input->host.entries(
		    paths->input->host.context, table.at, table.width);

		if (most && most < table.n)
			table.n = most;
	}
	paths_table_open(paths, &table);
	/* A bound that is too wide is not paid for where the table turns out to be shorter. */
	for (uint32_t i = 0; i < table.n; i++) {
		paths_charge(paths, 1);
		if (!paths_table_target(paths, i, &target))
			return true;
	}
	for (uint32_t i = 0; i < table.n; i++) {
		if (!paths_table_read(paths, i, &target))
			return true;
		/* Cases without code of their own follow each other. */
		if ((i == 0 || target != last) &&
		    !code_paths_arrive(paths, pc, target, state))
			return false;
		last = target;
	}
	return true;
}

bool code_paths_jump_to(struct code_paths *paths, uint32_t leader, uint64_t pc,
    const struct code_insn *insn, const struct code_state *state)
{
	const struct code_value via = state->regs[insn->via];

	if (via.kind == CODE_CONST)
		return code_paths_arrive(paths, pc, (uint64_t)via.off, state);
	if (via.kind != CODE_TABLE || !(state->table.n || paths->input->host.entries))
		return true;
	if (paths->tables)
		return state->table.n
			   ? paths_jump_by_table(paths, pc, state)
			   : paths_jump_by_open_table(paths, leader, pc, state);
	return paths_defer(
	    paths, &paths->waiting, &paths->n_waiting, &paths->cap_waiting, leader);
}
