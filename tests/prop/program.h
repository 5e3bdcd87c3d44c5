/* SPDX-License-Identifier: MIT */
/* Random .eh_frame sections, with what they mean. */
#ifndef TESTS_PROP_PROGRAM_H
#define TESTS_PROP_PROGRAM_H

#include "base/wr.h"
#include "tests/prop/truth.h"

enum {
	PROGRAM_CIES = 3,
	PROGRAM_FDES = 12,
	PROGRAM_SEGS = 2048,
	PROGRAM_DEPTH = 16,
	PROGRAM_OPS = 32, /* at least as many as there are kinds of instructions */
};

struct program_cie {
	size_t off;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* DW_EH_PE_* of addresses */
	bool augmented;	  /* z: FDEs have a length of augmentation data */
	bool signal;	  /* S: only version 3 can describe its FDEs */
	bool b_key;	  /* B; on AArch64 the key of its signatures */
	bool lost;	  /* no FDE of it can be described: another RA column */
	struct truth_state initial;
};

/* Holds from pc to the next of the same FDE. */
struct program_seg {
	uint64_t pc;
	struct truth_state state;
};

struct program_fde {
	uint64_t pc, end;
	size_t first_seg, n_segs;
	bool signal;	/* as the CIE's */
	bool b_key;	/* the same, on AArch64 */
	bool lost;	/* as the CIE's, or its program is damaged */
	bool duplicate; /* says again what another says */
	bool shared;	/* another one describes some of its code differently */
	bool fixed;	/* its program names an address */
	bool passes;	/* its program goes on past its end */
	const struct program_cie *cie;
	size_t text_off, text_len; /* what follows the size field in the record */
};

struct program {
	/* Borrowed bytes that decide before rng does; a fuzzer gives them. */
	const uint8_t *choices;
	size_t n_choices;
	bool small; /* few functions of few instructions */
	uint64_t rng;
	const struct truth_machine *machine;
	struct wr out;	/* owned; the section */
	uint64_t addr;	/* of the section */
	uint64_t base;	/* of the code */
	bool high;	/* code beyond 32 bits */
	bool downwards; /* FDEs in descending order of addresses, mostly */
	struct program_cie cies[PROGRAM_CIES];
	size_t n_cies;
	struct program_fde fdes[PROGRAM_FDES];
	size_t n_fdes;
	struct program_seg segs[PROGRAM_SEGS];
	size_t n_segs;
	/* While one CFA program is made up. */
	const struct program_cie *cie; /* NULL in the initial instructions */
	int64_t data_align;
	struct truth_state state, stack[PROGRAM_DEPTH];
	size_t depth;
	uint64_t loc;
	bool used_set_loc;
	/* How often each instruction was used, over all programs. */
	size_t used[PROGRAM_OPS];
};

uint64_t program_random(struct program *p, uint64_t below);
bool program_chance(struct program *p, unsigned int percent);
void program_uleb(struct wr *wr, uint64_t v);
void program_sleb(struct wr *wr, int64_t v);

/* An address as the CIE's encoding has it. */
void program_pointer(struct program *p, uint8_t encoding, uint64_t value);

/* Throws away what was made, but for used, rng and machine, and makes another section. */
void program_make(struct program *p);

/*
 * True if the FDE's row at pc can be lost because its expressions ran too many operations. Rules
 * that step cost some at each PC, and an FDE may run as many as the code that it has alone allows
 * (cfi_ranges_expr_ops).
 */
bool program_may_be_spent(
    const struct program *p, const struct program_fde *fde, uint64_t pc);

/*
 * Appends the length and the operations of a random expression, which starts with the CFA
 * on the stack or with nothing. The result has base, off and the like of its value, and
 * no how.
 */
struct truth_rule program_expression(struct program *p, bool with_cfa);

/* One random instruction; false when the one that came up makes no sense now. */
bool program_instruction(struct program *p);

/* Moves the location by at least least bytes of code. */
void program_advance(struct program *p, uint64_t least);

/* The name of instruction kind i; NULL beyond the last. */
const char *program_op_name(size_t i);

/* Instructions of some machines only (program_sign.c). */
bool program_sign(struct program *p);
bool program_window_save(struct program *p);

/* The rule the generator keeps for a register; NULL for registers that no column has. */
struct truth_rule *program_column(
    const struct program *p, struct truth_state *state, uint64_t reg);

#endif
