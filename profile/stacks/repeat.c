/* SPDX-License-Identifier: MIT */
#include "profile/stacks/repeat.h"

#include "base/vec.h"

void repeat_forget(struct repeat *repeat)
{
	repeat->n = repeat->left = 0;
}

void repeat_begin(
    struct repeat *repeat, uint32_t tid, uint32_t generation, uint64_t profile)
{
	if (repeat->tid != tid || repeat->generation != generation ||
	    repeat->profile != profile)
		repeat->n = 0;
	repeat->tid = tid;
	repeat->generation = generation;
	repeat->profile = profile;
	repeat->left = repeat->n;
	repeat->joined = false;
}

static bool repeat_same_words(
    const struct repeat_frame *frame, const struct repeat_copy *copy)
{
	for (uint32_t i = 0; i < frame->n_words; i++) {
		uint64_t value;

		if (!repeat_read(copy, frame->words[i].address, &value) ||
		    value != frame->words[i].value)
			return false;
	}
	return true;
}

bool repeat_joins(struct repeat *repeat, const struct eh2sframe_walk_frame *frame,
    const struct repeat_copy *copy)
{
	const struct repeat_frame *met;
	size_t i;

	while (repeat->left > 0 && repeat->frames[repeat->left - 1].sp < frame->sp)
		repeat->left--;
	if (repeat->left == 0)
		return false;
	met = &repeat->frames[repeat->left - 1];
	if (met->pc != frame->pc || met->sp != frame->sp || met->fp != frame->fp ||
	    met->flags != frame->flags)
		return false;
	for (i = repeat->left; i > 0; i--)
		if (!repeat_same_words(&repeat->frames[i - 1], copy))
			break;
	if (i == 0) {
		repeat->joined = true;
		return true;
	}
	/* The frames up to this one have other callers now. */
	repeat->left = i - 1;
	return false;
}

void repeat_end(
    struct repeat *repeat, const struct repeat_frame *frames, size_t n, uint8_t why)
{
	if (!repeat->joined)
		repeat->left = 0;
	if (n > REPEAT_MAX_FRAMES - repeat->left ||
	    !vec_reserve(&repeat->frames, &repeat->cap, repeat->left + n)) {
		repeat_forget(repeat);
		return;
	}
	while (n > 0)
		repeat->frames[repeat->left++] = frames[--n];
	repeat->n = repeat->left;
	repeat->why = why;
}
