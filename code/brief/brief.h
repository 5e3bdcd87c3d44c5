/* SPDX-License-Identifier: MIT */
/*
 * The instructions that most code consists of, in few words. A pass that reads all code of a file asks little of
 * most instructions, and code_insn_read takes 10 times as long to tell all. What is told here is
 * what code_insn_read says, or less; the test brief compares both.
 */
#ifndef CODE_BRIEF_BRIEF_H
#define CODE_BRIEF_BRIEF_H

#include "code/insn.h"

/* What the written register gets. */
enum code_brief_gives {
	BRIEF_OTHER,  /* some value */
	BRIEF_LOADED, /* the 8 bytes that it loads */
	BRIEF_SUM,    /* from[0] + value; without from[0]: value */
	BRIEF_ASK, /* something that is computed of from[]; code_insn_read tells what */
};

struct code_brief {
	uint64_t target; /* address, of JUMPS, BRANCHES and CALLS */
	int64_t off;	 /* of memory */
	int64_t value;	 /* of BRIEF_SUM */
	uint8_t length;	 /* bytes */
	uint8_t control; /* CODE_CONTINUES, JUMPS, BRANCHES, CALLS, CALLS_TO or RETURNS */
	bool filler;	 /* as that of code_insn */
	uint8_t dst;	 /* the only register that is written; CODE_NO_REG: none */
	uint8_t gives;	 /* enum code_brief_gives, of dst */
	uint8_t from[2]; /* registers; CODE_NO_REG: a known value */
	/* It loads or stores width bytes at base + index + off. index may be shifted. */
	bool loads, stores;
	uint8_t base, index, width;
	uint8_t
	    src[2]; /* registers of 8 bytes that it stores; CODE_NO_REG: another value */
};

/*
 * Tells of the instruction at address pc, of which size bytes are there. False: it is not one of these;
 * code_insn_read knows whether it is one. Of a call it tells only where it goes. Needs code_can_decode.
 */
ATTR_MUST_CHECK bool code_brief_read(enum code_machine machine, const uint8_t *code,
    uint64_t size, uint64_t pc, struct code_brief *brief);

#endif
