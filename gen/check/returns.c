/* SPDX-License-Identifier: MIT */
/*
 * Blocks, each from where control goes to up to where it leaves. At first none can return. One
 * that can tells those that wait for it. A block that still waits when all have been looked at
 * cannot. A call that has a landing pad can go on there, too: a function may catch what it throws.
 */
#include "gen/check/returns.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_slots.h"
#include "base/search.h"
#include "base/vec.h"
#include "gen/check/landing_pads.h"

/* Longest block, so that blocks that begin in the middle of it soon go on as one. */
enum { RETURNS_WINDOW = 256 };
/* Limit of blocks, of some 60 bytes each. */
enum { RETURNS_MAX_BLOCKS = 1 << 22 };

#define RETURNS_NONE UINT32_MAX

struct block {
	uint64_t pc;
	uint32_t waiting; /* index of the first wait for it */
	bool returns;
	bool queued, looked_at;
};

struct wait {
	/* If it waits for a call: the address behind it, where the block goes on once its callee
	 * returns. 0: no call. */
	uint64_t behind;
	uint32_t block; /* that waits */
	uint32_t next;	/* index of the next wait for the same */
};

struct validate_returns {
	const struct validate_callees *callees;
	pthread_mutex_t lock;
	struct block *blocks;
	size_t n_blocks, cap_blocks;
	struct slots slots; /* blocks by address */
	struct wait *waits;
	size_t n_waits, cap_waits;
	uint32_t *queue; /* blocks to look at; the last comes first */
	size_t n_queue, cap_queue;
	uint32_t *told; /* blocks that can return, and have not told it yet */
	size_t n_told, cap_told;
	struct validate_landings landings; /* of the file */
	bool has_landings;		   /* they have been read */
	bool full;			   /* nothing more can be found out */
};

struct validate_returns *validate_returns_new(const struct validate_callees *callees)
{
	struct validate_returns *returns = calloc(1, sizeof(*returns));

	if (!returns || pthread_mutex_init(&returns->lock, NULL)) {
		free(returns);
		return NULL;
	}
	returns->callees = callees;
	return returns;
}

void validate_returns_free(struct validate_returns *returns)
{
	if (!returns)
		return;
	pthread_mutex_destroy(&returns->lock);
	free(returns->slots.list);
	free(returns->blocks);
	free(returns->waits);
	free(returns->queue);
	free(returns->told);
	free(returns->landings.list);
	free(returns);
}

/* Appends to a list of blocks. */
static void returns_push(struct validate_returns *returns, uint32_t **list, size_t *n,
    size_t *cap, uint32_t block)
{
	if (!vec_reserve(list, cap, *n + 1))
		returns->full = true;
	else
		(*list)[(*n)++] = block;
}

/* Returns the block at pc; RETURNS_NONE where the list has no room for it. */
static uint32_t returns_block(struct validate_returns *returns, uint64_t pc)
{
	const uint32_t hash = (uint32_t)hash_bytes((const uint8_t *)&pc, sizeof(pc));
	struct slot *slot;

	if (returns->n_blocks == RETURNS_MAX_BLOCKS ||
	    !slots_reserve(&returns->slots, returns->n_blocks + 1) ||
	    !vec_reserve(&returns->blocks, &returns->cap_blocks, returns->n_blocks + 1)) {
		returns->full = true;
		return RETURNS_NONE;
	}
	for (slot = slots_first(&returns->slots, hash); slot->number;
	     slot = slots_next(&returns->slots, slot))
		if (slot->hash == hash && returns->blocks[slot->number - 1].pc == pc)
			return slot->number - 1;
	*slot = (struct slot){.hash = hash, .number = (uint32_t)++returns->n_blocks};
	returns->blocks[slot->number - 1] = (struct block){.pc = pc,
	    .waiting = RETURNS_NONE,
	    .looked_at = validate_is_named(returns->callees, pc)};
	return slot->number - 1;
}

static void returns_say(struct validate_returns *returns, uint32_t block)
{
	if (returns->blocks[block].returns)
		return;
	returns->blocks[block].returns = true;
	returns_push(
	    returns, &returns->told, &returns->n_told, &returns->cap_told, block);
}

static void returns_enqueue(struct validate_returns *returns, uint32_t block)
{
	if (returns->blocks[block].looked_at || returns->blocks[block].queued)
		return;
	returns->blocks[block].queued = true;
	returns_push(
	    returns, &returns->queue, &returns->n_queue, &returns->cap_queue, block);
}

/* Notes that the block can return if the one at pc can and, where behind is not 0, the one there can, too. */
static void returns_wait(
    struct validate_returns *returns, uint32_t block, uint64_t pc, uint64_t behind)
{
	const uint32_t on = returns_block(returns, pc);

	if (on == RETURNS_NONE ||
	    !vec_reserve(&returns->waits, &returns->cap_waits, returns->n_waits + 1)) {
		returns->full = true;
		return;
	}
	returns->waits[returns->n_waits] =
	    (struct wait){behind, block, returns->blocks[on].waiting};
	returns->blocks[on].waiting = (uint32_t)returns->n_waits++;
	returns_enqueue(returns, on);
	/* Tells all that wait; those that know already do not mind. */
	if (returns->blocks[on].returns)
		returns_push(
		    returns, &returns->told, &returns->n_told, &returns->cap_told, on);
}

static void returns_tell_all(struct validate_returns *returns)
{
	while (returns->n_told && !returns->full) {
		uint32_t *first =
		    &returns->blocks[returns->told[--returns->n_told]].waiting;
		uint32_t wait = *first;

		*first = RETURNS_NONE;
		while (wait != RETURNS_NONE) {
			const struct wait one = returns->waits[wait];

			/* The callee returns, so control goes on behind the call. */
			if (one.behind)
				returns_wait(returns, one.block, one.behind, 0);
			else
				returns_say(returns, one.block);
			wait = one.next;
		}
	}
}

/* Reads the landing pads of all functions. */
static void returns_read_landings(struct validate_returns *returns)
{
	const struct cfi_input *input = returns->callees->input;

	returns->has_landings = true;
	for (size_t i = 0, last; i < input->ranges.n; i = last) {
		last = validate_landings_last(&input->ranges, i);
		if (!validate_landings_add(
			returns->callees->image, input, i, last, &returns->landings))
			returns->full = true;
	}
	if (returns->landings.n)
		qsort(returns->landings.list, returns->landings.n,
		    sizeof(*returns->landings.list), search_order);
}

/* Notes that the call at pc can go on at a landing pad. */
static void returns_land(struct validate_returns *returns, uint32_t block, uint64_t pc)
{
	const struct validate_landings *landings = &returns->landings;
	size_t i = search_list_above(landings->list, landings->n, start, pc);

	if (i && pc < landings->list[i - 1].end)
		returns_wait(returns, block, landings->list[i - 1].pad, 0);
}

/* Follows the instruction that may end the block. Returns true if the block goes on. */
static bool returns_at(struct validate_returns *returns, uint32_t block, uint64_t pc,
    const struct code_insn *insn, bool named, uint64_t own)
{
	const uint64_t behind = pc + insn->length;

	switch ((enum code_control)insn->control) {
	case CODE_STOPS:
		return false;
	case CODE_RETURNS:
		returns_say(returns, block);
		return false;
	case CODE_JUMPS:
		returns_wait(returns, block, insn->target, 0);
		return false;
	case CODE_BRANCHES:
		returns_wait(returns, block, insn->target, 0);
		returns_wait(returns, block, behind, 0);
		return false;
	case CODE_JUMPS_TO:
		if (own)
			returns_wait(returns, block, own, 0);
		else if (!named)
			returns_say(returns, block);
		return false;
	case CODE_BRANCHES_TO:
		if (named)
			returns_wait(returns, block, behind, 0);
		else
			returns_say(returns, block);
		return false;
	case CODE_CALLS:
		returns_land(returns, block, pc);
		returns_wait(returns, block, insn->target, behind);
		return false;
	case CODE_CALLS_TO:
		returns_land(returns, block, pc);
		if (!own)
			return !named;
		returns_wait(returns, block, own, behind);
		return false;
	case CODE_CONTINUES:
		break;
	}
	return true;
}

static void returns_look(struct validate_returns *returns, uint32_t block)
{
	const struct validate_callees *callees = returns->callees;
	const struct code_abi *abi = code_abi(callees->machine);
	uint64_t pc = returns->blocks[block].pc;
	const uint64_t end = (pc | (RETURNS_WINDOW - 1)) + 1;
	struct validate_stub stub = {.reg = CODE_NO_REG};
	struct code_state state;
	struct code_insn insn;

	returns->blocks[block].looked_at = true;
	code_state_unknown(&state);
	while (pc < end) {
		bool named = false;
		uint64_t own = 0;

		if (!validate_read_insn(callees, pc, &insn)) {
			returns_say(returns, block);
			return;
		}
		if (insn.control == CODE_JUMPS_TO || insn.control == CODE_BRANCHES_TO ||
		    insn.control == CODE_CALLS_TO) {
			named = validate_goes_to_named(callees, &insn, &state, &stub);
			own = validate_goes_to_own(callees, &insn, &state, &stub);
		}
		if (!returns_at(returns, block, pc, &insn, named, named ? 0 : own))
			return;
		validate_stub_note(callees, &insn, &state, &stub);
		code_state_step(&state, abi, pc, &insn);
		pc += insn.length;
	}
	returns_wait(returns, block, pc, 0);
}

/* True if what the block says still matters to one that waits for it. Else none does any more. */
static bool returns_matters(struct validate_returns *returns, uint32_t block)
{
	for (uint32_t wait = returns->blocks[block].waiting; wait != RETURNS_NONE;
	     wait = returns->waits[wait].next)
		if (!returns->blocks[returns->waits[wait].block].returns)
			return true;
	returns->blocks[block].waiting = RETURNS_NONE;
	return false;
}

bool validate_may_return(struct validate_returns *returns, uint64_t addr)
{
	bool answer = true;
	uint32_t asked;

	pthread_mutex_lock(&returns->lock);
	if (!returns->has_landings)
		returns_read_landings(returns);
	asked = returns->full ? RETURNS_NONE : returns_block(returns, addr);
	if (asked != RETURNS_NONE)
		returns_enqueue(returns, asked);
	while (asked != RETURNS_NONE && !returns->full && returns->n_queue &&
	       !returns->blocks[asked].returns) {
		const uint32_t block = returns->queue[--returns->n_queue];

		returns->blocks[block].queued = false;
		if (block != asked && !returns_matters(returns, block))
			continue;
		returns_look(returns, block);
		returns_tell_all(returns);
	}
	if (asked != RETURNS_NONE && !returns->full)
		answer = returns->blocks[asked].returns;
	pthread_mutex_unlock(&returns->lock);
	return answer;
}
