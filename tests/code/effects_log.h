/* SPDX-License-Identifier: MIT */
/* Reads what qemu writes with -d cpu, and knows how it differs between machines. */
#ifndef TESTS_CODE_EFFECTS_LOG_H
#define TESTS_CODE_EFFECTS_LOG_H

#include <stdio.h>

#include "code/insn.h"

/* The state before one instruction. */
struct effects_state {
	uint64_t pc;
	uint64_t regs[CODE_N_REGS];
	uint64_t have; /* a bit for each register that the log tells */
};

struct effects_machine {
	const char *name;
	enum code_machine machine;
	bool big_endian;
	uint64_t address;	 /* bits of a code address; the rest may be a signature */
	const char *begin, *end; /* how the first and the last line of a state begin */
	const char *pc;		 /* what stands before its number, in any of the lines */
	/* The number of the register with that name; CODE_NO_REG: another thing. */
	uint8_t (*reg)(const char *name, size_t length);
	/* Where the effects do not tell: it may change all of it. */
	bool (*changes_memory)(const uint8_t *code);
	/* It may come again behind itself, once for each repetition. NULL: none does. */
	bool (*repeats)(const uint8_t *code);
	uint64_t (*opcode)(
	    const uint8_t *code); /* different for different instructions */
};

const struct effects_machine *effects_machine_named(const char *name);

/* The next state; false at the end of the log. */
bool effects_log_next(
    FILE *log, const struct effects_machine *machine, struct effects_state *state);

#endif
