/* SPDX-License-Identifier: MIT */
/* The records between words.c and the program that runs the words on their machine (words_run.c). */
#ifndef TESTS_CODE_WORDS_H
#define TESTS_CODE_WORDS_H

#include <stdint.h>

enum {
	WORDS_BATCH = 4096, /* words that are run before anything is written */
	WORDS_BLOCK = 32,   /* bytes from one word to the next */
	WORDS_BYTES = 16,   /* of code for each; behind the instruction there are traps */
	WORDS_REGS = 32,    /* by their numbers in DWARF */
	WORDS_SLOTS = 32,   /* of 8 bytes in the stack; SP is in the middle of them */
	WORDS_AREA = 1 << 20,
};

/*
 * Areas of memory. They are so far apart, and so far from the program, that neither an address relative to the
 * instruction nor a number of 32 bits leads from one into another.
 */
#define WORDS_CODE UINT64_C(0x1000000000)
#define WORDS_DATA UINT64_C(0x3000000000)
#define WORDS_STACK UINT64_C(0x5000000000)

/* All numbers are in the order of the machine. */
struct words_state {
	uint64_t regs[WORDS_REGS];
	uint64_t slots[WORDS_SLOTS];
};

struct words_before {
	uint8_t code[WORDS_BYTES];
	uint64_t flags; /* four bits that conditions depend on */
	struct words_state state;
};

struct words_after {
	uint64_t pc; /* of the trap that ended it */
	uint64_t
	    signal; /* 0: the trap's; else another one, and the instruction did not run */
	struct words_state state;
};

#endif
