/* SPDX-License-Identifier: MIT */
/*
 * One instruction as what it does to registers, to the stack and to control. Registers have
 * the numbers that each machine's psABI gives them for DWARF. Only those that can hold a frame's
 * address or a saved register are described; flags, vectors and the like are left out.
 *
 * An effect is exact: it holds after each run of the instruction. Registers that it writes
 * otherwise are in `writes`, those that it may write in `unsure`.
 */
#ifndef CODE_INSN_H
#define CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "code/code.h"

/*
 * x86-64: 0 to 15. AArch64: 0 to 30, and 31 is SP, never the zero register. s390x: r0 to r15 are 0
 * to 15, f0 to f15 are 16 to 31 by DWARF's order of them.
 */
#define CODE_N_REGS 33
/* Holds a value between two effects of one instruction, and is in no mask. */
#define CODE_SCRATCH 32
#define CODE_NO_REG 0xff

enum code_effect_kind {
	/* dst = base + (index << shift) + off. Without a base and an index: dst = off. */
	CODE_SET,
	CODE_SUBTRACT, /* dst = base - (index << shift) */
	CODE_ALIGN,    /* dst = base & off; off is minus a power of 2 */
	CODE_BOUND,    /* dst = some value from 0 to off */
	CODE_LOAD,     /* dst = memory at base + (index << shift) + off */
	/* memory at base + (index << shift) + off = dst; CODE_NO_REG: = another value */
	CODE_STORE,
	CODE_COMPARE, /* a later branch depends on dst - index, or on dst - off */
	/* AArch64: dst is signed, or authenticated and stripped of its signature. */
	CODE_SIGN,
	CODE_AUTHENTICATE,
};

struct code_effect {
	int64_t off;
	uint8_t kind;	     /* enum code_effect_kind */
	uint8_t dst;	     /* CODE_NO_REG where the kind says so */
	uint8_t base, index; /* CODE_NO_REG: none, counts as 0 */
	uint8_t shift;	     /* bits */
	/* Bits of the index that count, from the lowest; the rest is filled with zeros or, where
	 * index_signed, with the highest of them. 64: all. */
	uint8_t index_bits;
	bool index_signed;
	/* LOAD, STORE: bytes of memory; a vector's too. SET and the other kinds that compute: 8, or 4
	 * where the upper half of dst becomes 0. COMPARE: 8, 4, 2 or 1. */
	uint8_t width;
	bool load_signed; /* LOAD of less than 8 bytes: dst is filled with the sign */
};

/* Where control goes after the instruction. */
enum code_control {
	CODE_CONTINUES,	  /* to the next instruction */
	CODE_JUMPS,	  /* to target */
	CODE_BRANCHES,	  /* to target or to the next */
	CODE_JUMPS_TO,	  /* to the address in register via */
	CODE_BRANCHES_TO, /* to the address in register via, or to the next */
	CODE_CALLS,	  /* target, and then the next if the callee returns */
	CODE_CALLS_TO,	  /* the address in register via, and then the next */
	CODE_RETURNS,	  /* to the caller */
	CODE_STOPS,	  /* nowhere: it traps */
};

/* When a branch goes to its target, by the last COMPARE before it. Unsigned. */
enum code_condition {
	CODE_IF_OTHER, /* not told */
	CODE_IF_EQUAL,
	CODE_IF_NOT_EQUAL,
	CODE_IF_ABOVE,
	CODE_IF_ABOVE_EQUAL,
	CODE_IF_BELOW,
	CODE_IF_BELOW_EQUAL,
};

/* s390x saves and loads up to 16 registers at once. */
#define CODE_MAX_EFFECTS 18

struct code_insn {
	uint64_t target; /* address, where control has one */
	/* A bit for each register: it gets a value that no effect tells. */
	uint32_t writes;
	uint32_t unsure;   /* a bit for each register: it may have got another value */
	uint8_t length;	   /* bytes */
	uint8_t control;   /* enum code_control */
	uint8_t condition; /* enum code_condition, of BRANCHES */
	uint8_t via;	   /* register, where control has one */
	bool filler;	   /* it does nothing; compilers pad with it */
	bool barrier; /* it only orders others; -mharden-sls puts it behind returns */
	bool
	    strange; /* neither compilers nor authors of user code write it, and data often looks like it */
	/* s390x: its effects are those of the instruction at target, which code_insn_execute adds. */
	bool executes;
	/* It calls the kernel: register `via` has the number of the call, or, where that is CODE_NO_REG, target is it. */
	bool system;
	/* The instruction changes what a branch depends on, and no COMPARE says to what. */
	bool ends_compare;
	/* Applied in this order, and all before `writes`. */
	uint8_t n_effects;
	struct code_effect effects[CODE_MAX_EFFECTS];
};

/*
 * The instruction at address pc, of which size bytes (at least 1) are there. False when it is none
 * that the decoder knows; insn may then say anything. Needs code_can_decode.
 */
ATTR_MUST_CHECK bool code_insn_read(enum code_machine machine, const uint8_t *code,
    uint64_t size, uint64_t pc, struct code_insn *insn);

/* Bytes that are read at the target of an instruction that executes another one. */
#define CODE_EXECUTED_BYTES 6
/* Adds to an instruction that executes the one at its target, whose bytes these are, the
 * effects of that one. */
void code_insn_execute(
    enum code_machine machine, const uint8_t *code, struct code_insn *insn);

/* Registers and offsets that the psABI fixes for calls and frames. */
struct code_abi {
	uint8_t n_regs; /* that the decoder describes */
	uint8_t sp, fp; /* registers */
	/* The return address at a function's entry: in this register, or, where it is
	 * CODE_NO_REG, in memory at CFA + ra_off. */
	uint8_t ra;
	int8_t ra_off;
	/* A stub of a PLT that calls the loader has put it at CFA + stub_ra_off, too; 0: none does. */
	int8_t stub_ra_off;
	int16_t sp_off;	     /* at a function's entry, SP = CFA + sp_off */
	int16_t sp_exit_off; /* just after its return, SP = CFA + sp_exit_off */
	uint32_t clobbered;  /* a bit for each register that a call need not preserve */
	/* Numbers of system calls of Linux that give a signal's context back, so that control never comes back. */
	uint8_t sigreturn[2];
};

const struct code_abi *code_abi(enum code_machine machine);

/* True if control never goes on to the next instruction; a call may be one that does not return. */
bool code_insn_ends(const struct code_insn *insn);

/*
 * True if the instruction leaves SP, the frame pointer, the return address and the stack alone,
 * whatever registers hold before it.
 */
bool code_insn_is_quiet(const struct code_insn *insn, const struct code_abi *abi);

#endif
