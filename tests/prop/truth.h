/* SPDX-License-Identifier: MIT */
/*
 * The meaning of a random program, kept by the one who makes it up: no part of this is computed by
 * the code under test. A rule is how the caller's value is found, over an address or value that is a
 * base plus an offset, which may be larger at some PCs of each block than at others.
 */
#ifndef TESTS_PROP_TRUTH_H
#define TESTS_PROP_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A machine as its psABI and the manual page have it, a second time. */
struct truth_machine {
	const char *name;
	bool big_endian;
	uint8_t sp, fp, ra, pc;
	uint8_t others[3];   /* registers without a role */
	int64_t cfa_off;     /* the CFA at an entry is SP + this */
	int64_t sp_off;	     /* the caller's SP is the CFA + this */
	bool sp_saved;	     /* and what is saved of it is that, too */
	int64_t fixed_ra;    /* RA is at the CFA + this; 0: it has words of its own */
	unsigned int since;  /* the first version that has it */
	bool flex;	     /* version 3 has pairs of words for it */
	bool words_register; /* s390x: version 2 has words for registers, even ones for
				slots, and CFA words of 8 bytes each */
	bool padding;	     /* there is a word for an RA that is not saved */
	bool signs;	     /* AArch64 */
};

enum { TRUTH_MACHINES = 4 };
extern const struct truth_machine truth_machines[TRUTH_MACHINES];

enum truth_how {
	TRUTH_NO_RULE,
	TRUTH_UNDEFINED,
	TRUTH_SAME,
	TRUTH_SAVED_AT, /* in memory at the address */
	TRUTH_IS,	/* the value itself */
};

enum truth_base {
	TRUTH_NUMBER,
	TRUTH_REG,
	TRUTH_CFA,
	TRUTH_FROM_CFA, /* what memory holds at CFA + off */
	TRUTH_FROM_REG, /* at a register + off */
	TRUTH_UNKNOWN,
};

struct truth_rule {
	uint8_t how, base;
	uint8_t reg;	  /* TRUTH_REG, TRUTH_FROM_REG */
	uint8_t mask;	  /* 0: the same at every PC */
	uint8_t at_least; /* where pc & mask is that much, step is added to off */
	uint8_t step;
	int64_t off;
};

struct truth_state {
	struct truth_rule cfa, sp, fp, ra;
	bool cfa_plain;		 /* a register and an offset, given as such and not by an
				    expression */
	bool is_signed, with_pc; /* the return address is, and how */
};

enum truth_place_kind {
	TRUTH_NOWHERE, /* unchanged; RA: where the ABI has it */
	TRUTH_AT_CFA,  /* *(cfa + off) */
	TRUTH_VALUE,   /* reg + off */
	TRUTH_AT_REG,  /* *(reg + off) */
};

struct truth_place {
	uint8_t kind, reg;
	int32_t off;
};

/* The contents that a row must have, if any row of the version can. */
struct truth_answer {
	bool sayable, outermost, is_signed;
	struct truth_place cfa, ra, fp;
};

/* Target of the rows. */
struct truth_target {
	const struct truth_machine *machine;
	unsigned int version;
	bool signal;
	bool moved; /* the CFA had another place since SP has a rule */
};

/* True if the CFA is at pc where a call leaves it. */
bool truth_is_at_entry(
    const struct truth_machine *machine, const struct truth_state *state, uint64_t pc);

struct truth_answer truth_answer_at(
    const struct truth_target *target, const struct truth_state *state, uint64_t pc);

#endif
