/* SPDX-License-Identifier: MIT */
/*
 * A worklist of leaders: addresses that control comes to from more than the instruction before.
 * Each has the state that all ways so far agree on. A leader found in the middle of a walk
 * splits it: the walk is repeated up to the new leader. States only lose knowledge, so it ends.
 */
#ifndef CODE_PATHS_INTERNAL_H
#define CODE_PATHS_INTERNAL_H

#include "code/paths.h"

/* For each byte of the function. */
struct paths_byte {
	/* Index into paths->insns, in units, plus 1; 0: nothing decoded here. */
	uint32_t insn;
	uint32_t leader;    /* index plus 1; 0: none */
	uint32_t walk : 31; /* the leader whose walk came here, plus 1 */
	/* A jump goes back to here: control that comes here makes a leader. */
	uint32_t back : 1;
};

struct paths_leader {
	uint64_t pc;
	size_t state; /* where in paths->states, in units */
	uint8_t cap;  /* slots that fit there */
	bool queued;
	bool seeded;
	/* The leader plus 1 whose walk went through here before; 0: none. Its marks behind this
	 * place are out of date. */
	uint32_t before;
};

/* Unit of the storage of insns and states, which gives them their alignment. */
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
	size_t cap_offs;
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
	/* Leaders whose walk ends at a table without a bound. */
	uint32_t *again;
	size_t n_again, cap_again;
	struct code_table table; /* that was read last */
	uint64_t *targets;	 /* addresses, of its first entries */
	size_t n_targets, cap_targets;
	bool progress; /* a table without a bound led to code that was not known */
	uint64_t steps;
	bool tables;  /* they are read: all else has been followed */
	bool seeding; /* what is walked now comes from a seed */
	bool loose, broken, disputed, failed;
	struct err *err;
};

/* One decoded instruction as it is kept: without the effects that it does not have. */
struct paths_insn {
	uint8_t returns; /* of a call, also of the kernel: 0 not asked, 1 no, 2 yes */
	bool valid;
	struct code_insn insn;
};

enum { PATHS_CALL_STOPS = 1, PATHS_CALL_RETURNS = 2 };

/* Leaves out the slots that are not used. */
static inline void code_state_copy(struct code_state *to, const struct code_state *from)
{
	memcpy(to, from, offsetof(struct code_state, slots));
	memcpy(to->slots, from->slots, from->n_slots * sizeof(from->slots[0]));
}

/* Notes that memory ran out; always false. */
bool code_paths_fail(struct code_paths *paths);

/* Returns the byte's place in paths->bytes, and the range of pc. SIZE_MAX: pc is in none. */
size_t code_paths_place(
    const struct code_paths *paths, uint64_t pc, const struct code_range **range);

const struct code_state *code_paths_state(
    const struct code_paths *paths, const struct paths_leader *leader);

/* Returns the instruction at a place where one was decoded. Decoding another one moves it. */
struct paths_insn *code_paths_insn_at(const struct code_paths *paths, size_t place);
/* Decodes the instruction at pc, once, and returns it. NULL: out of memory. */
struct paths_insn *code_paths_decode(
    struct code_paths *paths, size_t place, const struct code_range *range, uint64_t pc);

/* True if control never goes from the instruction to the next. */
bool code_paths_ends(const struct paths_insn *at);

/* Applies the instruction at pc to the state and, if it is a call, the callee's effect too. */
void code_paths_step(const struct code_paths *paths, struct code_state *state,
    uint64_t pc, const struct code_insn *insn);

/* Puts a leader into the queue (false: out of memory); takes the lowest one out of it, which is not empty. */
bool code_paths_push(struct code_paths *paths, uint32_t leader);
uint32_t code_paths_pop(struct code_paths *paths);

/* Notes that control comes from the instruction at from to pc with this state. False: out of memory. */
bool code_paths_arrive(
    struct code_paths *paths, uint64_t from, uint64_t pc, const struct code_state *state);

/* Follows a jump to the address in insn->via, which ends the walk from leader, with all its targets
 * that are known. */
bool code_paths_jump_to(struct code_paths *paths, uint32_t leader, uint64_t pc,
    const struct code_insn *insn, const struct code_state *state);
/* Walks from all leaders of the queue, and from those that are found meanwhile. */
bool code_paths_follow(struct code_paths *paths);

#endif
