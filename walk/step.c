/* SPDX-License-Identifier: MIT */
/* The step through the callbacks of a caller. */
#include "walk/step.h"

enum eh2sframe_walk_why eh2sframe_walk_step(
    const struct eh2sframe_walk_space *space, struct eh2sframe_walk_frame *frame)
{
	return walk_step(space, frame);
}
