/* SPDX-License-Identifier: MIT */
/* profile/stacks/repeat.h: random stacks that change in places. A walk that joins the one before must be the
 * walk that is made in full. */
#include <string.h>

#include "profile/profile.h"
#include "profile/stacks/repeat.h"
#include "tests/unit/unit.h"

enum { WORDS = 96, PCS = 7, END_SEEN = 1, END_CUT = 2 };

static struct err err;
static uint64_t memory[WORDS];

/* A walk by made-up rules: a PC says how large its frame is and where FP is kept. */
struct made {
	struct profile *profile;
	struct repeat_copy copy;
	struct repeat_frame steps[WORDS];
	size_t n;
	uint8_t why;
	bool singular;
};

static bool made_read(struct made *made, uint64_t address, uint64_t *value)
{
	struct repeat_frame *step = &made->steps[made->n - 1];

	if (!repeat_read(&made->copy, address, value)) {
		made->singular = true;
		return false;
	}
	step->words[step->n_words++] = (struct repeat_word){address, *value};
	return true;
}

/* false: the walk ends. */
static bool made_step(struct made *made, struct eh2sframe_walk_frame *frame)
{
	uint64_t size = 8 + 8 * (frame->pc % 4), pc, fp = frame->fp;

	made->why = END_SEEN;
	if (frame->pc == 0)
		return false;
	made->why = END_CUT;
	if (!made_read(made, frame->sp + size - 8, &pc))
		return false;
	/* Some frames keep FP, and some need it: then the caller is another one. */
	if (size > 8 && !made_read(made, frame->sp + size - 16, &fp))
		return false;
	if (frame->pc == 5)
		pc = (pc + frame->fp) % PCS;
	frame->sp += size;
	frame->pc = pc;
	frame->fp = fp;
	frame->flags = 0;
	return true;
}

static uint32_t made_add(struct made *made, struct repeat *repeat)
{
	uint32_t stack = 0, index;

	if (repeat && repeat->joined)
		stack = repeat->frames[repeat->left - 1].stack;
	for (size_t i = made->n; i-- > 0;) {
		const struct profile_frame frame = {.kind = PROFILE_FRAME_UNKNOWN,
		    .address = made->steps[i].pc << 32 | made->steps[i].sp};

		ck_assert(profile_add_frame(made->profile, &frame, &index, &err));
		ck_assert(profile_add_stack(made->profile, stack, index, &stack, &err));
		made->steps[i].stack = stack;
	}
	return stack;
}

/* repeat may be NULL. Returns the stack in the profile. */
static uint32_t made_walk(struct made *made, uint64_t from, struct repeat *repeat)
{
	struct eh2sframe_walk_frame frame = {.pc = 1 + from % 3,
	    .sp = 8 * from,
	    .fp = from % 2,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT};
	uint32_t stack;

	made->copy = (struct repeat_copy){
	    (const uint8_t *)memory + 8 * from, 8 * from, sizeof(memory) - 8 * from};
	made->n = 0;
	made->singular = false;
	if (repeat)
		repeat_begin(repeat, 3, 4, 5);
	do {
		if (repeat && made->n > 0 && repeat_joins(repeat, &frame, &made->copy)) {
			made->why = repeat->why;
			break;
		}
		made->steps[made->n++] = (struct repeat_frame){
		    .pc = frame.pc, .sp = frame.sp, .fp = frame.fp, .flags = frame.flags};
	} while (made_step(made, &frame));
	stack = made_add(made, repeat);
	if (repeat && made->singular)
		repeat_forget(repeat);
	else if (repeat)
		repeat_end(repeat, made->steps + 1, made->n - 1, made->why);
	return stack;
}

UNIT(repeat_random)
{
	struct made full = {0}, short_one = {0};
	struct repeat repeat = {0};
	struct profile profile;
	size_t n_joined = 0, n_saved = 0, n_cut = 0;
	unsigned int seed = 9;

	ck_assert(profile_init(&profile, &err));
	full.profile = short_one.profile = &profile;
	for (size_t i = 0; i < WORDS; i++)
		memory[i] = 1 + (uint64_t)rand_r(&seed) % (PCS - 1);
	for (int i = 0; i < 100000; i++) {
		uint64_t from = (uint64_t)rand_r(&seed) % 24;
		uint32_t stack;

		/* Most changes are far inside, as in a program. */
		for (int k = rand_r(&seed) % 3; k > 0; k--)
			memory[(uint64_t)rand_r(&seed) % (i % 10 ? 40 : WORDS)] =
			    (uint64_t)rand_r(&seed) % (i % 16 ? PCS + 20 : PCS);
		memory[WORDS - 1] = memory[WORDS - 2] = memory[WORDS - 3] =
		    memory[WORDS - 4] = i % 8 ? 0 : 1;
		stack = made_walk(&full, from, NULL);
		ck_assert_uint_eq(made_walk(&short_one, from, &repeat), stack);
		ck_assert_uint_eq(short_one.why, full.why);
		n_joined += repeat.joined;
		n_saved += full.n - short_one.n;
		n_cut += full.why == END_CUT;
	}
	/* Each way was taken often. */
	ck_assert_uint_gt(n_joined, 10000);
	ck_assert_uint_gt(n_saved, 50000);
	ck_assert_uint_gt(n_cut, 1000);
	free(repeat.frames);
	profile_free(&profile);
}

UNIT(repeat_other_walks)
{
	struct repeat_frame frames[REPEAT_MAX_FRAMES + 1] = {
	    {.pc = 1, .sp = 8}, {.pc = 2, .sp = 16}};
	const struct eh2sframe_walk_frame frame = {.pc = 2, .sp = 16};
	const struct repeat_copy copy = {(const uint8_t *)memory, 0, sizeof(memory)};
	struct eh2sframe_walk_frame other = frame;
	struct repeat repeat = {0};

	repeat_begin(&repeat, 1, 1, 0);
	ck_assert(!repeat_joins(&repeat, &frame, &copy));
	repeat_end(&repeat, frames, 2, END_SEEN);
	repeat_begin(&repeat, 1, 1, 0);
	ck_assert(repeat_joins(&repeat, &frame, &copy));
	ck_assert_uint_eq(repeat.left, 1);
	ck_assert_int_eq(repeat.why, END_SEEN);
	/* Another flag, thread, set of mappings or numbering is another walk. */
	other.flags = EH2SFRAME_WALK_FRAME_NO_FP;
	repeat_begin(&repeat, 1, 1, 0);
	ck_assert(!repeat_joins(&repeat, &other, &copy));
	for (uint32_t i = 0; i < 3; i++) {
		repeat_begin(&repeat, 1, 1, 0);
		repeat_end(&repeat, frames, 2, END_SEEN);
		repeat_begin(&repeat, i == 0 ? 2 : 1, i == 1 ? 2 : 1, i == 2);
		ck_assert(!repeat_joins(&repeat, &frame, &copy));
	}
	/* A walk with too many frames is not kept. */
	repeat_begin(&repeat, 1, 1, 0);
	repeat_end(&repeat, frames, REPEAT_MAX_FRAMES + 1, END_SEEN);
	repeat_begin(&repeat, 1, 1, 0);
	ck_assert(!repeat_joins(&repeat, &frame, &copy));
	free(repeat.frames);
}
