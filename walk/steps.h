/* SPDX-License-Identifier: MIT */
/*
 * Steps by words of the cache alone (walk/cache.h), for what nearly all frames of a stack are.
 * PC, SP and FP stay in registers from step to step: a frame in memory, which each step writes
 * and the next one reads, makes a walk slower by a third.
 */
#ifndef WALK_STEPS_H
#define WALK_STEPS_H

#include "walk/step.h"

/* A frame that has called, and whose FP is known. */
struct walk_run {
	uint64_t pc, sp, fp;
};

/*
 * From a frame to its caller by the word of its rule. false: the rule is none of those, or
 * something is not as it should be. The frame is then as before, and walk_step says why.
 */
WALK_INLINE bool walk_run_step(
    const struct eh2sframe_walk_space *space, uint64_t word, struct walk_run *run)
{
	const uint64_t ends =
	    (uint64_t)(EH2SFRAME_WALK_RULE_OUTERMOST | EH2SFRAME_WALK_RULE_SIGNAL)
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

/*
 * Goes from frame to frame as long as the cache has their rules, and writes the PCs of callers
 * to pcs from n on, to max at most. Returns how many there are then; frame is the last one.
 */
WALK_INLINE size_t walk_run_cached(const struct eh2sframe_walk_space *space,
    struct eh2sframe_walk_frame *frame, uintptr_t *pcs, size_t n, size_t max)
{
	struct walk_run run = {frame->pc, frame->sp, frame->fp};
	size_t before = n;

	/* A first frame, one above a signal frame, one without FP. */
	if (frame->flags != 0)
		return n;
	while (n < max &&
	       walk_run_step(space, walk_cache_get(space->cache, run.pc - 1), &run))
		pcs[n++] = (uintptr_t)run.pc;
	if (n != before) {
		frame->pc = run.pc;
		frame->sp = run.sp;
		frame->fp = run.fp;
		frame->registers = NULL;
	}
	return n;
}

#endif
