/* SPDX-License-Identifier: MIT */
/* The profile itself: what is equal is there once. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "tests/unit/unit.h"

static struct err err;

UNIT(profile_equal_elements_are_one)
{
	struct profile profile;
	struct profile_frame frame = {
	    .kind = PROFILE_FRAME_UNKNOWN, .pid = 1, .address = 2};
	uint32_t a, b;

	ck_assert(profile_init(&profile, &err));
	ck_assert(profile_add_frame(&profile, &frame, &a, &err));
	ck_assert(profile_add_frame(&profile, &frame, &b, &err));
	ck_assert_uint_eq(a, b);
	ck_assert(profile_add_stack(&profile, 0, a, &a, &err));
	ck_assert(profile_add_stack(&profile, 0, b, &b, &err));
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_eq(b, 1);
	ck_assert(profile_add_stack(&profile, 1, 0, &b, &err));
	ck_assert_uint_eq(b, 2);
	ck_assert(profile_add_thread(&profile, 1, 1, "a", &a, &err));
	ck_assert(profile_add_thread(&profile, 1, 1, "b", &b, &err));
	ck_assert_uint_ne(a, b);
	profile_free(&profile);
}

/* Random callers and frames, against a table. A caller's first callee is kept elsewhere than the others. */
UNIT(profile_callees)
{
	enum { STACKS = 200, FRAMES = 9 };
	static uint32_t known[STACKS][FRAMES];
	struct profile profile;
	unsigned int seed = 5;
	uint32_t index;

	ck_assert(profile_init(&profile, &err));
	for (uint64_t i = 0; i < FRAMES; i++) {
		struct profile_frame frame = {
		    .kind = PROFILE_FRAME_UNKNOWN, .pid = 1, .address = i};

		ck_assert(profile_add_frame(&profile, &frame, &index, &err));
	}
	for (int i = 0; i < 20000; i++) {
		uint32_t caller = (uint32_t)rand_r(&seed) % STACKS;
		uint32_t frame = (uint32_t)rand_r(&seed) % FRAMES;
		size_t before = profile.n_stacks;

		if (caller >= before)
			continue;
		ck_assert(profile_add_stack(&profile, caller, frame, &index, &err));
		ck_assert_uint_eq(
		    index, known[caller][frame] ? known[caller][frame] : before);
		ck_assert_uint_eq(profile.stacks[index].caller, caller);
		ck_assert_uint_eq(profile.stacks[index].frame, frame);
		known[caller][frame] = index;
	}
	ck_assert_uint_gt(profile.n_stacks, STACKS);
	profile_free(&profile);
}

/* Threads, frames and modules that differ in one member: what takes the square of their number
 * runs into the time limit. */
UNIT(profile_alike)
{
	enum { N = 100000 };
	struct profile profile;
	char path[] = "/nowhere/ls", comm[16];
	uint32_t index, module;

	ck_assert(profile_init(&profile, &err));
	for (uint32_t i = 0; i < N; i++) {
		struct profile_module one = {.path = path, .build_id_size = 4};
		struct profile_frame frame = {.address = 0x5000};

		memcpy(one.build_id, &i, 4);
		snprintf(comm, sizeof(comm), "t%u", (unsigned int)i);
		ck_assert(profile_add_module(&profile, &one, &module, &err));
		frame.module = module;
		ck_assert(profile_add_frame(&profile, &frame, &index, &err));
		frame = (struct profile_frame){
		    .kind = PROFILE_FRAME_JIT, .pid = i, .address = 1};
		ck_assert(profile_add_frame(&profile, &frame, &index, &err));
		ck_assert(profile_add_thread(&profile, 1, 1, comm, &index, &err));
		ck_assert_uint_eq(index, i);
	}
	ck_assert_uint_eq(profile.n_frames, 2 * N);
	profile_free(&profile);
}
