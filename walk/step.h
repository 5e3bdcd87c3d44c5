/* SPDX-License-Identifier: MIT */
/*
 * The step from a frame to its caller, as a template: a caller that passes a space which the
 * compiler knows gets its read and find without calls.
 *
 *	static const struct eh2sframe_walk_space space = {.read = my_read, ...};
 *	why = walk_step(&space, &frame);
 */
#ifndef WALK_STEP_H
#define WALK_STEP_H

#include "walk/quick.h"

/* s390x: the CFA is this far above the SP of the caller. */
enum { WALK_S390X_BIAS = 160 };

/* The value of a register in frame; false when it is not known. */
WALK_INLINE bool walk_register(enum eh2sframe_walk_machine machine,
    const struct eh2sframe_walk_frame *frame, uint8_t reg, uint64_t *value)
{
	if (reg == walk_sp(machine)) {
		*value = frame->sp;
		return true;
	}
	if (reg == walk_fp(machine)) {
		*value = frame->fp;
		return !(frame->flags & EH2SFRAME_WALK_FRAME_NO_FP);
	}
	if (reg == walk_ra(machine) && frame->flags & EH2SFRAME_WALK_FRAME_RA) {
		*value = frame->ra;
		return true;
	}
	if (!frame->registers || reg >= EH2SFRAME_WALK_N_REGISTERS)
		return false;
	*value = frame->registers[reg];
	return true;
}

/* An address without the bits of a signature, as XPACLRI leaves it. */
WALK_INLINE uint64_t walk_plain_address(uint64_t address, uint64_t signature_mask)
{
	return address & UINT64_C(1) << 55 ? address | signature_mask
					   : address & ~signature_mask;
}

/* Caller's values that a step finds before it changes the frame. Members stay in registers as long as no read
 * gets their addresses: a value that was written in parts and is read as a whole stalls the processor. */
struct walk_caller {
	uint64_t cfa, sp, ra, fp;
	bool no_fp;
};

WALK_INLINE enum eh2sframe_walk_why walk_find_cfa(
    const struct eh2sframe_walk_space *space, const struct eh2sframe_walk_frame *frame,
    const struct eh2sframe_rule *rule, struct walk_caller *caller)
{
	uint64_t value;

	if (!walk_register(space->machine, frame, rule->cfa.reg, &value))
		return EH2SFRAME_WALK_WHY_LOST_REGISTER;
	caller->cfa = value;
	/* The SP of a guess is only not above the real one: AArch64 keeps its frame pointer at
	 * the low end of a frame. */
	if (space->machine == EH2SFRAME_WALK_AARCH64 &&
	    frame->flags & EH2SFRAME_WALK_FRAME_GUESSED &&
	    rule->cfa.reg == walk_sp(space->machine))
		return EH2SFRAME_WALK_WHY_LOST_REGISTER;
	caller->cfa += (uint64_t)(int64_t)rule->cfa.offset;
	if (__builtin_expect(rule->cfa.place == EH2SFRAME_PLACE_AT_SUM, 0)) {
		uint64_t index;

		if (!walk_register(space->machine, frame, rule->cfa_index, &index))
			return EH2SFRAME_WALK_WHY_LOST_REGISTER;
		caller->cfa += index << (rule->cfa_shift & 63);
	}
	if (rule->cfa.place == EH2SFRAME_PLACE_AT_REGISTER ||
	    rule->cfa.place == EH2SFRAME_PLACE_AT_SUM) {
		if (!space->read(space->context, caller->cfa, &value))
			return EH2SFRAME_WALK_WHY_CUT_OFF;
		caller->cfa = value + (uint64_t)(int64_t)rule->cfa_add;
	}
	caller->sp = caller->cfa;
	if (space->machine == EH2SFRAME_WALK_S390X)
		caller->sp -= WALK_S390X_BIAS;
	if (__builtin_expect(caller->sp > frame->sp, 1) ||
	    rule->flags & EH2SFRAME_FLAG_SIGNAL_FRAME)
		return EH2SFRAME_WALK_WHY_GOES_ON;
	/* A first frame may have no memory where a call leaves RA in its register. On s390x it
	 * may save RA nevertheless: the caller's frame has 160 bytes for that. */
	if (caller->sp == frame->sp && frame->flags & EH2SFRAME_WALK_FRAME_EXACT &&
	    (space->machine == EH2SFRAME_WALK_S390X ||
		(space->machine == EH2SFRAME_WALK_AARCH64 &&
		    rule->ra.place != EH2SFRAME_PLACE_AT_CFA)))
		return EH2SFRAME_WALK_WHY_GOES_ON;
	return EH2SFRAME_WALK_WHY_CONTRADICTION;
}

WALK_INLINE enum eh2sframe_walk_why walk_find_ra(const struct eh2sframe_walk_space *space,
    const struct eh2sframe_walk_frame *frame, const struct eh2sframe_rule *rule,
    struct walk_caller *caller)
{
	uint64_t at = caller->cfa, value;
	uint8_t reg = rule->ra.place == EH2SFRAME_PLACE_SAME ? walk_ra(space->machine)
							     : rule->ra.reg;

	if (rule->ra.place != EH2SFRAME_PLACE_AT_CFA &&
	    !walk_register(space->machine, frame, reg, &at))
		return EH2SFRAME_WALK_WHY_LOST_REGISTER;
	if (rule->ra.place != EH2SFRAME_PLACE_SAME)
		at += (uint64_t)(int64_t)rule->ra.offset;
	if (rule->ra.place == EH2SFRAME_PLACE_SAME ||
	    rule->ra.place == EH2SFRAME_PLACE_REGISTER) {
		caller->ra = at;
	} else {
		/* Memory below SP has what a later call or a signal has written. */
		if (at < frame->sp && !(rule->flags & EH2SFRAME_FLAG_SIGNAL_FRAME))
			return EH2SFRAME_WALK_WHY_CONTRADICTION;
		if (!space->read(space->context, at, &value))
			return EH2SFRAME_WALK_WHY_CUT_OFF;
		caller->ra = value;
	}
	caller->ra = walk_plain_address(caller->ra, space->signature_mask);
	return caller->ra ? EH2SFRAME_WALK_WHY_GOES_ON : EH2SFRAME_WALK_WHY_ZERO;
}

WALK_INLINE enum eh2sframe_walk_why walk_find_fp(const struct eh2sframe_walk_space *space,
    const struct eh2sframe_walk_frame *frame, const struct eh2sframe_rule *rule,
    struct walk_caller *caller)
{
	uint64_t at = caller->cfa, value;

	caller->fp = frame->fp;
	caller->no_fp = frame->flags & EH2SFRAME_WALK_FRAME_NO_FP;
	if (rule->fp.place == EH2SFRAME_PLACE_SAME)
		return EH2SFRAME_WALK_WHY_GOES_ON;
	if (rule->fp.place != EH2SFRAME_PLACE_AT_CFA &&
	    !walk_register(space->machine, frame, rule->fp.reg, &at)) {
		/* Goes on without FP: perhaps no further row needs it. */
		caller->no_fp = true;
		return EH2SFRAME_WALK_WHY_GOES_ON;
	}
	at += (uint64_t)(int64_t)rule->fp.offset;
	if (rule->fp.place == EH2SFRAME_PLACE_REGISTER) {
		caller->fp = at;
	} else {
		/*
		 * In an epilogue that has restored the register, the CFI of GCC still names its
		 * slot, which is below SP now.
		 */
		if (at < frame->sp && !(rule->flags & EH2SFRAME_FLAG_SIGNAL_FRAME))
			return EH2SFRAME_WALK_WHY_GOES_ON;
		if (!space->read(space->context, at, &value))
			return EH2SFRAME_WALK_WHY_CUT_OFF;
		caller->fp = value;
	}
	caller->no_fp = false;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* Makes frame its caller by a rule. */
WALK_INLINE enum eh2sframe_walk_why walk_apply(const struct eh2sframe_walk_space *space,
    struct eh2sframe_walk_frame *frame, const struct eh2sframe_rule *rule)
{
	struct walk_caller caller;
	enum eh2sframe_walk_why why;

	if (rule->flags & EH2SFRAME_FLAG_OUTERMOST)
		return EH2SFRAME_WALK_WHY_OUTERMOST;
	why = walk_find_cfa(space, frame, rule, &caller);
	if (why != EH2SFRAME_WALK_WHY_GOES_ON)
		return why;
	why = walk_find_ra(space, frame, rule, &caller);
	if (why != EH2SFRAME_WALK_WHY_GOES_ON)
		return why;
	why = walk_find_fp(space, frame, rule, &caller);
	if (why != EH2SFRAME_WALK_WHY_GOES_ON)
		return why;
	frame->pc = caller.ra;
	frame->sp = caller.sp;
	frame->fp = caller.fp;
	frame->registers = NULL;
	frame->flags = caller.no_fp ? EH2SFRAME_WALK_FRAME_NO_FP : 0;
	if (rule->flags & EH2SFRAME_FLAG_SIGNAL_FRAME)
		frame->flags |= EH2SFRAME_WALK_FRAME_EXACT | EH2SFRAME_WALK_FRAME_SIGNAL;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* A frame that has called, and whose FP is known. */
struct walk_run {
	uint64_t pc, sp, fp;
};

/*
 * Goes from a frame to its caller by the word of its rule. false: the word has no such rule, or
 * something is not as it should be. The frame is then as before, and walk_step says why.
 */
WALK_INLINE bool walk_run_step(
    const struct eh2sframe_walk_space *space, uint64_t word, struct walk_run *run)
{
	const uint64_t ends =
	    (uint64_t)(EH2SFRAME_FLAG_OUTERMOST | EH2SFRAME_FLAG_SIGNAL_FRAME)
	    << WALK_PACK_FLAGS_SHIFT;
	uint64_t cfa = word & WALK_PACK_CFA_FP ? run->fp : run->sp, sp, at, ra,
		 fp = run->fp;

	/* An empty word has no RA, either. */
	if ((word & (ends | WALK_PACK_CFA_READ | WALK_PACK_RA)) != WALK_PACK_RA)
		return false;
	cfa += (uint64_t)(int64_t)walk_unpack_cfa(word);
	at = cfa + (uint64_t)(int64_t)walk_unpack_offset(word, WALK_PACK_RA_SHIFT);
	sp = space->machine == EH2SFRAME_WALK_S390X ? cfa - WALK_S390X_BIAS : cfa;
	if (sp <= run->sp || at < run->sp || !space->read(space->context, at, &ra))
		return false;
	if (space->machine == EH2SFRAME_WALK_AARCH64)
		ra = walk_plain_address(ra, space->signature_mask);
	at = cfa + (uint64_t)(int64_t)walk_unpack_offset(word, WALK_PACK_FP_SHIFT);
	/* A slot below SP: walk_find_fp. */
	if (ra == 0 || (word & WALK_PACK_FP && at >= run->sp &&
			   !space->read(space->context, at, &fp)))
		return false;
	*run = (struct walk_run){ra, sp, fp};
	return true;
}

/* Finds the rule for pc in the section that has it: a word, or 0 and rule. */
WALK_INLINE enum eh2sframe_walk_why walk_find_rule(
    const struct eh2sframe_walk_space *space, uint64_t pc, uint64_t *word,
    struct eh2sframe_rule *rule)
{
	const struct eh2sframe_walk_section *opened;
	enum eh2sframe_walk_why why = space->find(space->context, pc, &opened);
	const struct walk_section *section;

	*word = 0;
	if (__builtin_expect(why != EH2SFRAME_WALK_WHY_GOES_ON, 0))
		return why;
	section = walk_opened(opened);
	*word = walk_quick(section, space->machine, pc);
	if (__builtin_expect(*word == 0, 0)) {
		if (walk_machine(section) != space->machine)
			return EH2SFRAME_WALK_WHY_NO_ROW;
		why = eh2sframe_walk_look_up(opened, pc, rule);
		if (why != EH2SFRAME_WALK_WHY_GOES_ON)
			return why;
		if (!walk_pack(space->machine, rule, word)) {
			*word = 0;
			return EH2SFRAME_WALK_WHY_GOES_ON;
		}
	}
	if (space->cache && section->id != 0)
		walk_cache_put(space->cache, pc, *word);
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* A frame pointer further above SP is not believed. */
enum { WALK_GUESS_MAX = 1 << 20 };

/* Finds the caller by the frame pointer, where the rows end for the reason why. Inlined like the
 * rest: the space and the frame of a walk stay in registers only if no call gets them. */
WALK_INLINE enum eh2sframe_walk_why walk_guess(const struct eh2sframe_walk_space *space,
    struct eh2sframe_walk_frame *frame, enum eh2sframe_walk_why why)
{
	const struct eh2sframe_walk_section *section = NULL;
	enum eh2sframe_walk_why found = EH2SFRAME_WALK_WHY_NO_MODULE;
	struct eh2sframe_rule rule;
	uint64_t fp, ra;
	bool no_fp;

	if (why != EH2SFRAME_WALK_WHY_NO_ROW && why != EH2SFRAME_WALK_WHY_NO_MODULE &&
	    why != EH2SFRAME_WALK_WHY_LOST_REGISTER)
		return why;
	/* s390x has no chain of frame pointers. */
	if (space->machine == EH2SFRAME_WALK_S390X ||
	    frame->flags & EH2SFRAME_WALK_FRAME_NO_FP || frame->fp < frame->sp ||
	    frame->fp - frame->sp > WALK_GUESS_MAX || frame->fp % 8 != 0)
		return why;
	if (!space->read(space->context, frame->fp, &fp) ||
	    !space->read(space->context, frame->fp + 8, &ra))
		return why;
	ra = walk_plain_address(ra, space->signature_mask);
	/* The last link of a chain: its caller may keep anything in the register. */
	no_fp = fp != 0 && fp <= frame->fp;
	if (ra != 0 && (no_fp || why != EH2SFRAME_WALK_WHY_NO_MODULE))
		found = space->find(space->context, ra - 1, &section);
	if (no_fp && (found != EH2SFRAME_WALK_WHY_GOES_ON ||
			 (section && eh2sframe_walk_look_up(section, ra - 1, &rule) !=
					 EH2SFRAME_WALK_WHY_GOES_ON)))
		return why;
	/* A call from code of no file can come from such code only. */
	if (ra == 0 || (why != EH2SFRAME_WALK_WHY_NO_MODULE &&
			   found == EH2SFRAME_WALK_WHY_NO_MODULE))
		return why;
	frame->pc = ra;
	frame->sp = frame->fp + 16;
	frame->fp = fp;
	frame->registers = NULL;
	frame->flags = EH2SFRAME_WALK_FRAME_GUESSED;
	if (no_fp)
		frame->flags |= EH2SFRAME_WALK_FRAME_NO_FP;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* As eh2sframe_walk_step. */
WALK_INLINE enum eh2sframe_walk_why walk_step(
    const struct eh2sframe_walk_space *space, struct eh2sframe_walk_frame *frame)
{
	/* A call can be the last instruction of a function. */
	uint64_t pc = frame->pc - !(frame->flags & EH2SFRAME_WALK_FRAME_EXACT);
	uint64_t word = space->cache ? walk_cache_get(space->cache, pc) : 0;
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	struct eh2sframe_rule rule;

	if (__builtin_expect(word == 0, 0))
		why = walk_find_rule(space, pc, &word, &rule);
	if (__builtin_expect(word != 0, 1)) {
		struct eh2sframe_rule packed;
		struct walk_run run = {frame->pc, frame->sp, frame->fp};

		if (frame->flags == 0 && walk_run_step(space, word, &run)) {
			frame->pc = run.pc;
			frame->sp = run.sp;
			frame->fp = run.fp;
			frame->registers = NULL;
			return EH2SFRAME_WALK_WHY_GOES_ON;
		}
		packed = walk_unpack(space->machine, word);
		why = walk_apply(space, frame, &packed);
	} else if (why == EH2SFRAME_WALK_WHY_GOES_ON) {
		why = walk_apply(space, frame, &rule);
	}
	if (__builtin_expect(why != EH2SFRAME_WALK_WHY_GOES_ON, 0) && space->guess)
		return walk_guess(space, frame, why);
	return why;
}

#endif
