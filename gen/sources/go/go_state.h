/* SPDX-License-Identifier: MIT */
/* State of the pass over a function's instructions at one of them; for go_walk.c. */
#ifndef GEN_SOURCES_GO_GO_STATE_H
#define GEN_SOURCES_GO_GO_STATE_H

#include "gen/sources/go/go_walk.h"

/* Contents of a register, as far as frames depend on it. */
struct go_value {
	enum {
		GO_UNKNOWN,
		GO_CFA,	  /* the CFA plus off */
		GO_CONST, /* off */
	} kind;
	int64_t off;
};

/* A register that the caller needs: the frame pointer, or AArch64's return address. */
struct go_saved {
	uint8_t reg;
	uint8_t below; /* bytes below SP at which Go still keeps it */
	bool clean;    /* by the way that led here, it holds the caller's value */
	bool touched;  /* an instruction before this one writes it */
	bool changed;  /* it was overwritten while it was not saved */
	bool has_slot;
	bool no_slot; /* its slot cannot be used: */
	bool hit;     /* another value was stored to it */
	int64_t slot; /* saved at the CFA plus this */
};

struct go_state {
	const struct go_code *code;
	const struct code_abi *abi;
	uint64_t pc, end; /* addresses */
	/* The table's last answer holds from level_start up to level_end. */
	uint64_t level_start, level_end;
	int64_t level_sp;
	bool quiet;	/* the instruction before pc changed no rule */
	int64_t sp;	/* by the table, the CFA plus this */
	uint64_t known; /* a bit for each register whose value is in regs */
	struct go_value regs[CODE_N_REGS];
	struct go_saved fp, ra;
	bool behind_call; /* only fillers are between a call and pc */
	/* Constants that the code loads from its own bytes, behind pc; equal: none. */
	uint64_t data_start, data_end;
	/* The address where SP is not as the table says, and its value there: the CFA plus this. */
	uint64_t split_pc;
	int64_t split_sp;
	uint64_t
	    ended; /* address behind the last instruction that control does not pass */
	uint64_t reached; /* the highest address in the function that a jump leads to */
	uint64_t trap;	  /* address behind the last jump to itself; 0: none */
	enum go_reason why;
};

/* True if what is saved is still above SP. */
bool go_state_has_slot(const struct go_state *state, const struct go_saved *saved);
/* Applies the instruction at state->pc. A call has returned. */
void go_state_step(struct go_state *state, const struct code_insn *insn);

static inline struct go_value go_state_reg(const struct go_state *state, uint8_t reg)
{
	return state->known >> reg & 1 ? state->regs[reg]
				       : (struct go_value){GO_UNKNOWN, 0};
}

static inline void go_state_set_reg(
    struct go_state *state, uint8_t reg, struct go_value value)
{
	state->known &= ~(UINT64_C(1) << reg);
	if (value.kind == GO_UNKNOWN)
		return;
	state->known |= UINT64_C(1) << reg;
	state->regs[reg] = value;
}

#endif
