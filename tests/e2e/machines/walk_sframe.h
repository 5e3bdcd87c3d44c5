/* SPDX-License-Identifier: MIT */
/*
 * A reader of SFrame sections that are in memory, and one step of a walk by them: a
 * consumer that knows the format document and nothing of this project's code. Versions 1
 * to 3, of the machine and byte order that it runs on.
 */
#ifndef TESTS_E2E_WALK_SFRAME_H
#define TESTS_E2E_WALK_SFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF numbers. */
#if defined(__x86_64__)
enum { REG_SP = 7, REG_FP = 6, REG_RA = 16, N_REGS = 17, SP_FROM_CFA = 0 };
#elif defined(__aarch64__)
enum { REG_SP = 31, REG_FP = 29, REG_RA = 30, N_REGS = 32, SP_FROM_CFA = 0 };
#elif defined(__s390x__)
enum { REG_SP = 15, REG_FP = 11, REG_RA = 14, N_REGS = 32, SP_FROM_CFA = -160 };
#else
#error "SFrame is not defined for this machine"
#endif

/* A loaded file with PT_GNU_SFRAME. */
struct sframe_module {
	uintptr_t low, high; /* of its PT_LOADs */
	const uint8_t *section;
	size_t size;
};

struct frame {
	uintptr_t pc;
	uintptr_t regs[N_REGS];
	bool known[N_REGS];
	/* pc is the instruction to run next, not one that follows a call. */
	bool topmost;
};

enum step {
	STEP_CALLER,	/* the frame is the caller's now */
	STEP_OUTERMOST, /* the section says that the frame has no caller */
	STEP_NO_MODULE, /* no file with a section has this address */
	STEP_NO_FUNCTION,
	STEP_BAD, /* see walk_problem */
};

/* The modules must be in static memory: a walk may happen in a signal handler. */
enum step walk_step(const struct sframe_module *modules, size_t n, struct frame *frame);

/* What STEP_BAD was about. */
extern const char *walk_problem;

/*
 * Lies for tests of the test: what is added to each CFA offset of the function with this
 * address; the other key for all signed return addresses.
 */
extern uintptr_t walk_lie_at;
extern int walk_lie;
extern bool walk_other_key;

#endif
