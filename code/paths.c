/* SPDX-License-Identifier: MIT */
/*
 * A worklist of leaders: addresses that control comes to from more than the instruction before.
 * Each has the state that all ways so far agree on. A leader found in the middle of a walk
 * splits it: the walk is repeated up to the new leader. States only lose knowledge, so it ends.
 */
#include "code/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* For each byte of the function. */
struct paths_byte {
	uint32_t insn;	 /* where in paths->insns, in units, plus 1; 0: nothing decoded here */
	uint32_t leader; /* index plus 1; 0: none */
	uint32_t walk;	 /* the leader whose walk came here, plus 1 */
};

struct paths_leader {
	uint64_t pc;
	size_t state;	 /* where in paths->states, in units */
	uint8_t cap;	 /* slots that fit there */
	bool queued;
	bool seeded;
	/* The leader plus 1 whose walk went through here before; 0: none. Its marks behind this
	 * place are out of date. */
	uint32_t before;
};

/* Of what insns and states are made, for their alignment. */
union paths_unit {
	uint64_t number;
	void *pointer;
};

struct code_paths {
	const struct code_paths_input *input;
	const struct code_abi *abi;
	struct paths_byte *bytes;
	size_t n_bytes, cap_bytes;
	uint64_t *offs; /* of each range, where in bytes it begins */
	size_t n_offs, cap_offs;
	union paths_unit *insns;
	size_t n_insns, cap_insns;
	union paths_unit *states;
	size_t n_states, cap_states;
	struct paths_leader *leaders;
	size_t n_leaders, cap_leaders;
	uint32_t *queue; /* indices of leaders; a heap, the lowest address first */
	size_t n_queue, cap_queue;
	/* Leaders whose walk ends at a table of jump targets. */
	uint32_t *waiting;
	size_t n_waiting, cap_waiting;
	uint64_t steps;
	bool tables; /* they are read: all else has been followed */
	bool seeding; /* what is walked now comes from a seed */
	bool open, disputed, failed;
	struct err *err;
};

/* One decoded instruction as it is kept: without the effects that it does not have. */
struct paths_insn {
	uint8_t returns; /* of a call: 0 not asked, 1 no, 2 yes */
	bool valid;
	struct code_insn insn;
};

enum { FLOW_CALL_STOPS = 1, FLOW_CALL_RETURNS = 2 };

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

static bool paths_fail(struct code_paths *paths)
{
	paths->failed = true;
	return err_set_nomem(paths->err);
}

/* The byte's place in paths->bytes, and the range of pc. SIZE_MAX: pc is in none. */
static size_t paths_place(
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

/* ---- states ---- */

static void state_copy(struct code_state *to, const struct code_state *from)
{
	memcpy(to, from, offsetof(struct code_state, slots));
	memcpy(to->slots, from->slots, from->n_slots * sizeof(from->slots[0]));
}

static const struct code_state *paths_state(
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
		size_t size = offsetof(struct code_state, slots) + cap * sizeof(state->slots[0]);
		size_t units = (size + sizeof(*paths->states) - 1) / sizeof(*paths->states);

		if (!vec_reserve(&paths->states, &paths->cap_states, paths->n_states + units))
			return paths_fail(paths);
		leader->state = paths->n_states;
		leader->cap = cap;
		paths->n_states += units;
	}
	state_copy((struct code_state *)&paths->states[leader->state], state);
	return true;
}

/* ---- instructions ---- */

static struct paths_insn *paths_insn_at(const struct code_paths *paths, size_t place)
{
	return (struct paths_insn *)&paths->insns[paths->bytes[place].insn - 1];
}

/* The instruction at pc, decoded once. NULL: out of memory. */
static struct paths_insn *paths_decode(
    struct code_paths *paths, size_t place, const struct code_range *range, uint64_t pc)
{
	struct paths_insn decoded = {0};
	size_t size, units;

	if (paths->bytes[place].insn)
		return paths_insn_at(paths, place);
	decoded.valid = code_insn_read(paths->input->machine, range->bytes + (pc - range->start),
	    range->readable - (pc - range->start), pc, &decoded.insn);
	size = offsetof(struct paths_insn, insn.effects) +
	       decoded.insn.n_effects * sizeof(decoded.insn.effects[0]);
	units = (size + sizeof(*paths->insns) - 1) / sizeof(*paths->insns);
	if (!vec_reserve(&paths->insns, &paths->cap_insns, paths->n_insns + units)) {
		(void)paths_fail(paths);
		return NULL;
	}
	paths->bytes[place].insn = (uint32_t)paths->n_insns + 1;
	memcpy(&paths->insns[paths->n_insns], &decoded, size);
	paths->n_insns += units;
	return paths_insn_at(paths, place);
}

/* ---- leaders ---- */

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

static bool paths_push(struct code_paths *paths, uint32_t leader)
{
	size_t at;

	if (paths->leaders[leader].queued)
		return true;
	if (!vec_reserve(&paths->queue, &paths->cap_queue, paths->n_queue + 1))
		return paths_fail(paths);
	paths->leaders[leader].queued = true;
	at = paths->n_queue++;
	paths->queue[at] = leader;
	for (; at && paths_before(paths, at, (at - 1) / 2); at = (at - 1) / 2)
		paths_swap(paths, at, (at - 1) / 2);
	return true;
}

/* Takes the lowest leader of the queue, which is not empty. */
static uint32_t paths_pop(struct code_paths *paths)
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
		return paths_fail(paths);
	leader = &paths->leaders[paths->n_leaders++];
	*leader = (struct paths_leader){
	    .pc = pc, .seeded = paths->seeding, .before = walk};
	paths->bytes[place].leader = (uint32_t)paths->n_leaders;
	return paths_keep(paths, leader, state) &&
	       paths_push(paths, (uint32_t)paths->n_leaders - 1) &&
	       (!walk || paths_push(paths, walk - 1));
}

/* Control comes from the instruction at from to pc with this state. */
static bool paths_arrive(struct code_paths *paths, uint64_t from, uint64_t pc,
    const struct code_state *state)
{
	const struct code_range *range;
	size_t place = paths_place(paths, pc, &range);
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
	state_copy(&joined, paths_state(paths, leader));
	if (!code_state_meet(&joined, state))
		return true;
	if (paths->seeding && !leader->seeded) {
		paths->disputed = true;
		return true;
	}
	return paths_keep(paths, leader, &joined) &&
	       paths_push(paths, paths->bytes[place].leader - 1);
}

/* ---- walks ---- */

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
	place = paths_place(paths, *target, &range);
	/* Not into the middle of an instruction that is known. */
	for (size_t back = 1; place != SIZE_MAX && back < 16 && back <= place; back++)
		if (paths->bytes[place - back].walk &&
		    paths_insn_at(paths, place - back)->insn.length > back &&
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
		    !paths_arrive(paths, pc, target, state))
			return !paths->failed;
	return true;
}

static bool paths_jump_to(struct code_paths *paths, uint32_t leader, uint64_t pc,
    const struct code_insn *insn, const struct code_state *state)
{
	const struct code_value via = state->regs[insn->via];

	if (via.kind == CODE_CONST)
		return paths_arrive(paths, pc, (uint64_t)via.off, state);
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
		return paths_fail(paths);
	paths->waiting[paths->n_waiting++] = leader;
	return true;
}

/* Where exceptions continue that a call at pc lets through. */
static bool paths_land(struct code_paths *paths, uint64_t pc, const struct code_state *state)
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
	return paths_arrive(paths, pc, input->landings[low].pad, state);
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
			at->returns = host->returns(host->context, pc, &at->insn,
					  paths_behind_fillers(
					      paths, range, pc + at->insn.length),
					  state)
					  ? FLOW_CALL_RETURNS
					  : FLOW_CALL_STOPS;
		return at->returns == FLOW_CALL_RETURNS;
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
		return paths_arrive(paths, pc, insn->target, state);
	case CODE_BRANCHES:
		state_copy(&jumped, state);
		code_state_branch(&jumped, paths->abi, insn, true);
		return paths_arrive(paths, pc, insn->target, &jumped);
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

	state_copy(&state, paths_state(paths, &paths->leaders[leader]));
	for (;;) {
		size_t place = paths_place(paths, pc, &range);
		struct paths_insn *at = paths_decode(paths, place, range, pc);
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
			return paths_arrive(paths, pc, next, &state);
		place += at->insn.length;
		if (paths->bytes[place].leader)
			return paths_arrive(paths, pc, next, &state);
		/* Another walk came here from the middle of an instruction: both meet. */
		if (paths->bytes[place].walk && paths->bytes[place].walk != leader + 1 &&
		    paths->bytes[place].walk != paths->leaders[leader].before)
			return paths_arrive(paths, pc, next, &state);
		pc = next;
	}
}

static bool paths_empty_queue(struct code_paths *paths)
{
	for (;;) {
		while (paths->n_queue)
			if (!paths_walk(paths, paths_pop(paths)))
				return false;
		if (!paths->n_waiting)
			return true;
		/* Tables come last, so that what they lead to can be judged by all else. */
		paths->tables = true;
		while (paths->n_waiting)
			if (!paths_push(paths, paths->waiting[--paths->n_waiting]))
				return false;
	}
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
		struct paths_insn *at = paths_decode(paths, place, range, pc);

		if (!at)
			return false;
		if (!at->valid) {
			pc += step;
			continue;
		}
		if (!paths->bytes[place].walk && !at->insn.filler &&
		    host->seed(host->context, pc, &state) &&
		    (!paths_arrive(paths, pc, pc, &state) || !paths_empty_queue(paths)))
			return false;
		pc += paths_insn_at(paths, place)->insn.length;
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
	paths->tables = paths->seeding = paths->open = paths->disputed = paths->failed = false;
	if (!vec_reserve(&paths->offs, &paths->cap_offs, input->n_ranges))
		return paths_fail(paths);
	for (size_t i = 0; i < input->n_ranges; i++) {
		paths->offs[i] = size;
		size += input->ranges[i].end - input->ranges[i].start;
		if (size > CODE_PATHS_MAX_BYTES)
			return err_set(paths->err, ERR_LIMIT, "a function of more than %u bytes",
			    (unsigned)CODE_PATHS_MAX_BYTES);
	}
	if (!vec_reserve(&paths->bytes, &paths->cap_bytes, (size_t)size))
		return paths_fail(paths);
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
		if (!paths_arrive(paths, input->entries[i], input->entries[i], &entry))
			return false;
	if (!paths_empty_queue(paths))
		return false;
	paths->seeding = true;
	for (size_t i = 0; input->host.seed && i < input->n_ranges; i++)
		if (!paths_seed_range(paths, i))
			return false;
	if (paths->steps == 0)
		return err_set(err, ERR_LIMIT, "too many ways through a function");
	return true;
}

/* ---- results ---- */

/* The instructions of one leader's walk. */
static bool paths_visit_walk(const struct code_paths *paths, uint32_t leader,
    bool (*visit)(void *context, const struct code_place *place), void *context)
{
	const struct code_range *range;
	struct code_state state;
	uint64_t pc = paths->leaders[leader].pc;
	struct code_place at = {.seeded = paths->leaders[leader].seeded, .state = &state};

	state_copy(&state, paths_state(paths, &paths->leaders[leader]));
	for (;;) {
		size_t place = paths_place(paths, pc, &range);
		const struct paths_insn *decoded;

		if (place == SIZE_MAX || paths->bytes[place].walk != leader + 1)
			return true;
		decoded = paths_insn_at(paths, place);
		at.pc = pc;
		at.insn = &decoded->insn;
		if (!visit(context, &at))
			return false;
		code_state_step(&state, paths->abi, pc, &decoded->insn);
		if (decoded->insn.control == CODE_BRANCHES)
			code_state_branch(&state, paths->abi, &decoded->insn, false);
		pc += decoded->insn.length;
		place = paths_place(paths, pc, &range);
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
