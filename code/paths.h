/* SPDX-License-Identifier: MIT */
/*
 * The states at all instructions of a function, by following every way through it from its
 * entries. Code that no way leads to can start from a state that the caller gives;
 * knowledge there then comes from the caller, not from the code.
 */
#ifndef CODE_PATHS_H
#define CODE_PATHS_H

#include "base/err.h"
#include "code/state.h"

/* A part of the function. Parts ascend and do not overlap. */
struct code_range {
	uint64_t start, end;  /* addresses; end is exclusive */
	const uint8_t *bytes; /* borrowed */
	uint64_t readable;    /* how many bytes there are; at least those of the range */
};

/* A call in [start, end) can continue at pad, with SP as at the call. */
struct code_landing {
	uint64_t start, end, pad; /* addresses */
};

/* Questions of the analysis to its caller. Each function gets context. */
struct code_host {
	void *context;
	/* Reads width bytes (1, 2, 4 or 8) of memory that no code writes to. False: it is not there. */
	bool (*read)(void *context, uint64_t addr, uint8_t width, uint64_t *value);
	/* True if the call at pc can return. after is the state if it does, and next is the address
	 * of the first instruction behind it that does something. */
	bool (*returns)(void *context, uint64_t pc, const struct code_insn *call,
	    uint64_t next, const struct code_state *after);
	/* Seeds code that no way leads to with a state. False: leave it alone. NULL: always so. */
	bool (*seed)(void *context, uint64_t pc, struct code_state *state);
	/* Notes that control goes from pc to an address outside of the ranges. NULL: it does not matter. */
	void (*leaves)(
	    void *context, uint64_t pc, uint64_t target, const struct code_state *state);
	/* Notes that control goes from pc to another place inside of the ranges, unless only as to the
	 * next instruction. At an entry, both are the same. NULL: it does not matter. */
	void (*arrives)(void *context, uint64_t pc, uint64_t target);
	/* True if the callee keeps register 0 by its own code, which the psABI does not promise.
	 * Routines that touch the pages of a large frame do. state is that before the call. NULL:
	 * none does. */
	bool (*keeps_first)(
	    void *context, const struct code_insn *call, const struct code_state *state);
	/* Applies to the state after the call at pc what is known of its callee; before is the state at the
	 * call. NULL: all callees keep what the psABI says. */
	void (*kept)(void *context, uint64_t pc, const struct code_insn *call,
	    const struct code_state *before, struct code_state *after);
	/* Returns how many entries of width bytes a table of jump targets at addr has before the
	 * next address that code refers to; 0: not known. Asked where the code does not check its
	 * index. NULL: always 0. */
	uint32_t (*entries)(void *context, uint64_t addr, uint8_t width);
	/* True if the code at pc, by what the caller expects of it, contradicts a state there.
	 * NULL: never. */
	bool (*contradicts)(void *context, uint64_t pc, const struct code_state *state);
};

struct code_paths_input {
	enum code_machine machine;
	const struct code_range *ranges;
	size_t n_ranges;
	const uint64_t *entries; /* addresses at which functions begin */
	size_t n_entries;
	const struct code_landing *landings; /* ascending by start */
	size_t n_landings;
	/* No table of jump targets is read whose index may be bounded by its bits only. */
	bool strict;
	bool
	    wary; /* of all states; and code can begin with an instruction that does nothing */
	struct code_host host;
};

/* A bound on the bytes of one function. Larger ones are ERR_LIMIT. */
#define CODE_PATHS_MAX_BYTES (UINT64_C(64) << 20)
/* A bound on the instructions followed, per byte of the function. */
#define CODE_PATHS_MAX_STEPS 64

struct code_paths; /* heap object; memory that serves one function after the other */

/* NULL when memory runs out. Freed with code_paths_free. */
struct code_paths *code_paths_new(void);
void code_paths_free(struct code_paths *paths);

/*
 * Follows all ways. input is borrowed until the next call. False with ERR_LIMIT when a bound is
 * passed, or with ERR_NOMEM.
 */
ATTR_MUST_CHECK bool code_paths_run(
    struct code_paths *paths, const struct code_paths_input *input, struct err *err);

/* One instruction, as code_paths_visit shows it. */
struct code_place {
	uint64_t pc;
	const struct code_insn *insn;
	const struct code_state *state; /* before it */
	bool seeded;			/* the state comes from host->seed */
	bool ends; /* control does not go on to the next instruction */
	/* SP, the frame pointer, the return address and the stack hold what they held at the place
	 * that was visited before. */
	bool quiet;
};

/*
 * Calls visit for each instruction that was reached. Addresses ascend, except where jumps lead into
 * the middle of an instruction. Stops when visit returns false, and returns what the last one did.
 */
bool code_paths_visit(const struct code_paths *paths,
    bool (*visit)(void *context, const struct code_place *place), void *context);

/* True if a table was read whose index may be bounded by its bits only. */
bool code_paths_is_loose(const struct code_paths *paths);
/* True if a way leads to bytes that are no instruction. */
bool code_paths_is_broken(const struct code_paths *paths);
/* True if a seeded state and the code disagree where both come together. */
bool code_paths_is_disputed(const struct code_paths *paths);

#endif
