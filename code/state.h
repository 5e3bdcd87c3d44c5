/* SPDX-License-Identifier: MIT */
/*
 * Knowledge of registers and of the stack at one address of a function, whatever way led
 * there. Everything is relative to the function's entry: the canonical frame address (CFA,
 * DWARF 5, 6.4), the return address and the caller's registers.
 *
 * A value on which two ways disagree is unknown, because nothing is guessed. Three assumptions
 * remain: pointers that do not come from SP do not lead to saved registers, vectors do not hold
 * them, and calls keep what the psABI says (docs/CODE.md).
 */
#ifndef CODE_STATE_H
#define CODE_STATE_H

#include <string.h>

#include "code/insn.h"

enum code_value_kind {
	CODE_UNKNOWN = 0, /* it can be anything, a caller's value too */
	CODE_OTHER,	  /* none of those below */
	CODE_CONST,	  /* off */
	/* From 0 to off, at least in its low 32 bits. symbol is 1 where a comparison says so, and not its bits alone. */
	CODE_AT_MOST,
	CODE_TABLE, /* an entry of the state's table */
	/* off from an address that an instruction made: its symbol has the low 31 bits of where that is, and CODE_ALIGNED */
	CODE_MADE,
	CODE_CFA, /* the CFA plus off */
	CODE_RA,  /* the return address */
	CODE_RA_SIGNED,
	CODE_CALLERS, /* what register `symbol` held at entry; callee-saved registers only */
};

/* The address was aligned: it is at most off above the CFA. */
#define CODE_ALIGNED (UINT32_C(1) << 31)

struct code_value {
	int64_t off;
	uint32_t symbol; /* a register, or the low 32 bits of an address; else 0 */
	uint8_t kind;	 /* enum code_value_kind */
	uint8_t zero[3]; /* so that values can be compared as bytes */
};

static inline bool code_value_equal(struct code_value a, struct code_value b)
{
	return a.off == b.off && a.symbol == b.symbol && a.kind == b.kind;
}

/* 8 bytes of memory, at where + off bytes. */
struct code_slot {
	struct code_value where; /* MADE or CFA */
	struct code_value value;
};

/* More than this are forgotten; the most seen is 31. */
#define CODE_MAX_SLOTS 64

/* A table of jump targets in read-only memory: target = start + (entry << shift). */
struct code_table {
	uint64_t at, start; /* addresses */
	uint32_t n;	    /* entries at most; 0: not known */
	uint8_t width;	    /* of an entry, bytes */
	uint8_t shift;
	bool is_signed;
	bool
	    compared; /* n is from a comparison, and not from the bits of the index alone */
};

struct code_state {
	struct code_value regs[CODE_N_REGS];
	/* A bit for each register: its value comes from memory. If it is an address in the stack, a
	 * callee can have put another one there since. SP is never one of them. */
	uint64_t loaded;
	uint8_t n_slots;
	/* Memory without a slot is CODE_UNKNOWN, not CODE_OTHER: the state did not come from the
	 * entry alone. */
	bool memory_unknown;
	/* A store to the stack hits all that it can: what is saved, too, and what another name leads to. */
	bool wary;
	/* SP is where calls leave it by the ABI, and a callee of the file may have done something else. */
	bool sp_assumed;
	/* The last comparison: registers, or a constant. CODE_NO_REG: none is known. */
	uint8_t compared, compared_with;
	uint8_t compared_width;
	int64_t compared_off;
	struct code_table table;
	/* The last member, so that a copy can leave out what is not used. */
	struct code_slot slots[CODE_MAX_SLOTS]; /* ascending by where */
};

/* Fills in the state at a function's entry. */
void code_state_entry(const struct code_abi *abi, struct code_state *state);
/* Fills in a state of which nothing is known. */
void code_state_unknown(struct code_state *state);

struct code_value code_state_memory(
    const struct code_state *state, struct code_value address);
/* Notes that the 8 bytes at address (MADE or CFA) hold value. */
void code_state_set_memory(
    struct code_state *state, struct code_value address, struct code_value value);

/* Returns value plus off bytes. */
struct code_value code_value_plus(struct code_value value, int64_t off);

/* Returns the number of the system call that insn makes in the state; negative: it is not known. */
static inline int64_t code_state_system(
    const struct code_state *state, const struct code_insn *insn)
{
	if (insn->via == CODE_NO_REG)
		return (int64_t)insn->target;
	return state->regs[insn->via].kind == CODE_CONST ? state->regs[insn->via].off
							 : -1;
}

/* True if insn is a system call behind which control never goes on. */
static inline bool code_state_gives_back(const struct code_state *state,
    const struct code_abi *abi, const struct code_insn *insn)
{
	const int64_t number = insn->system ? code_state_system(state, insn) : -1;

	return number > 0 && (number == abi->sigreturn[0] || number == abi->sigreturn[1]);
}

/* Applies the instruction at pc to the state. A call has returned afterwards. */
void code_state_step(struct code_state *state, const struct code_abi *abi, uint64_t pc,
    const struct code_insn *insn);
/* Adds what follows from the outcome of the instruction, which BRANCHES: it jumped, or it did not. */
void code_state_branch(struct code_state *state, const struct code_abi *abi,
    const struct code_insn *insn, bool jumped);

/* Keeps in state what holds in both. Returns whether state changed. */
bool code_state_meet(struct code_state *state, const struct code_state *other);

#endif
