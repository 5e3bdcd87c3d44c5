/* SPDX-License-Identifier: MIT */
/*
 * Steps by words of the cache alone (walk/cache.h), which suffices for nearly all frames of a
 * stack. PC, SP and FP stay in registers from step to step: a frame in memory, which each step
 * writes and the next one reads, makes a walk slower by a third.
 */
#ifndef WALK_STEPS_H
#define WALK_STEPS_H

#include "walk/step.h"

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
