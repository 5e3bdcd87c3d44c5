/* SPDX-License-Identifier: MIT */
/*
 * What a random program means, kept by the one who makes it up: no part of this is
 * computed by the code under test. A rule is how the caller's value is found, over an
 * address or value that is a base plus an offset, which may be larger at some PCs of each
 * block than at others.
 */
#ifndef TESTS_PROP_TRUTH_H
#define TESTS_PROP_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRUTH_SP = 7, TRUTH_FP = 6, TRUTH_RA = 16 };

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
	bool cfa_plain; /* a register and an offset, given as such and not by an
			   expression */
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

/* What a row has to say, if any row of the version can. */
struct truth_answer {
	bool sayable, outermost;
	struct truth_place cfa, ra, fp;
};

struct truth_answer truth_answer_at(
	const struct truth_state *state, uint64_t pc, unsigned int version);

#endif
