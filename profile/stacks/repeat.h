/* SPDX-License-Identifier: MIT */
/*
 * The last walk of a thread. Most callers of a sample are those of the sample before. A step depends on the
 * frame, on the mappings and on the words that it reads. So when all of these are as they were, the rest of
 * the walk is as it was, and need not be made again.
 */
#ifndef PROFILE_STACKS_REPEAT_H
#define PROFILE_STACKS_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/eh2sframe-walk.h"

/* Longer walks, and those with a step that reads more words, are not kept. */
enum { REPEAT_MAX_FRAMES = 1024, REPEAT_MAX_WORDS = 3 };

struct repeat_word {
	uint64_t address, value;
};

/* A frame before its step, and the words that the step read. */
struct repeat_frame {
	uint64_t pc, sp, fp; /* pc as it is in the process */
	uint32_t flags;
	uint32_t stack; /* of the profile: the frame and its callers */
	uint32_t n_words;
	struct repeat_word words[REPEAT_MAX_WORDS];
};

/* Zeroed. */
struct repeat {
	struct repeat_frame *frames; /* the outermost one first */
	size_t n, cap;
	size_t left; /* those that the walk can still meet, or that it has met */
	bool joined;
	uint64_t profile; /* which numbers of stacks these are */
	uint32_t tid, generation;
	uint8_t why;
};

/* A copy of a stack. */
struct repeat_copy {
	const uint8_t *bytes;
	uint64_t address, size;
};

/* Whether the copy has the word at an address; reads it. */
static inline bool repeat_read(
    const struct repeat_copy *copy, uint64_t address, uint64_t *value)
{
	uint64_t at = address - copy->address;

	if (at >= copy->size || copy->size - at < sizeof(*value))
		return false;
	__builtin_memcpy(value, copy->bytes + at, sizeof(*value));
	return true;
}

/* Begins a walk of a thread. What was kept for another one is forgotten. */
void repeat_begin(
    struct repeat *repeat, uint32_t tid, uint32_t generation, uint64_t profile);
/* Whether the rest of the walk, from frame on, is as it was: then left is its number of frames. frame is not
 * the first one, whose registers are all known. */
bool repeat_joins(struct repeat *repeat, const struct eh2sframe_walk_frame *frame,
    const struct repeat_copy *copy);
/* Keeps the walk: frames, innermost first, and behind them those that it joined. */
void repeat_end(
    struct repeat *repeat, const struct repeat_frame *frames, size_t n, uint8_t why);
/* Nothing can be kept of the walk. */
void repeat_forget(struct repeat *repeat);

#endif
