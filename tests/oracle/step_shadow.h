/* SPDX-License-Identifier: MIT */
/*
 * A shadow stack: where each live return address lies, what it is, and what %rbp was when
 * its function was entered. It is kept by watching call and ret only, so it owes nothing
 * to CFI.
 */
#ifndef TESTS_ORACLE_STEP_SHADOW_H
#define TESTS_ORACLE_STEP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum step_insn {
	STEP_INSN_OTHER = 0,
	STEP_INSN_CALL,
	STEP_INSN_RET, /* and any jump to a register, where calls leave the return address in one */
	STEP_INSN_SYSCALL,
	/* First of "mov %reg,(%rsp); ret" or "lea 8(%rsp),%rsp; ret": the target of a
	 * retpoline's call, which makes no frame. */
	STEP_INSN_RETPOLINE,
};

enum { STEP_INSN_MAX = 15 }; /* bytes of the longest instruction */

struct step_frame {
	uint64_t
	    slot; /* address of the return address; SP at entry where a register has that */
	uint64_t ret;
	uint64_t rbp; /* the caller's */
};

struct step_shadow {
	struct step_frame *frames; /* innermost last */
	size_t n, cap;
	/* The innermost frame was cut off without a ret, as unwinders and longjmp do.
	 * Instructions until the next jump belong to the function that cut, which no frame
	 * stands for. */
	bool suspended;
	/* Frames behind the last one that SP left without a ret. Assembly may leave its return
	 * address below SP for a while. */
	size_t n_left;
	uint64_t resyncs; /* times all was forgotten: another stack */
};

/* The registers that matter here. */
struct step_regs {
	uint64_t rip, rsp, rbp;
	uint64_t link; /* where calls leave the return address in a register */
};

/* code holds at least STEP_INSN_MAX bytes. */
enum step_insn step_insn_read(const uint8_t *code);

/* Takes one instruction, from registers before to registers after; top is the word at
 * after's SP, which only matters after a call and where the frame is back. False when memory runs out. */
bool step_shadow_follow(struct step_shadow *shadow, enum step_insn insn,
    const struct step_regs *before, const struct step_regs *after, uint64_t top);

/* As step_shadow_follow, where calls leave the return address in a register. */
bool step_shadow_follow_link(struct step_shadow *shadow, enum step_insn insn,
    const struct step_regs *before, const struct step_regs *after);

/* True if SP is back where the frame that it left last has its return address. */
bool step_shadow_is_back(const struct step_shadow *shadow, uint64_t rsp);

/* A signal handler was entered: its frame returns to the restorer. */
bool step_shadow_push(
    struct step_shadow *shadow, uint64_t slot, uint64_t ret, uint64_t rbp);

/* The frame of the function that runs, or NULL when it is not known. */
const struct step_frame *step_shadow_top(const struct step_shadow *shadow);

void step_shadow_clear(struct step_shadow *shadow);
void step_shadow_deinit(struct step_shadow *shadow);

#endif
