/* SPDX-License-Identifier: MIT */
/* profile/: what is written is read again; what is damaged is refused or bounded. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/recording.h"
#include "tests/unit/unit.h"

static struct err err;

/* A profile with an element of each kind and n samples. */
static void recording_fill(struct profile *profile, unsigned int n)
{
	char path[] = "/bin/x", vdso[] = "[vdso]";
	struct profile_module module = {
	    .path = path, .build_id_size = 20, .build_id = {7}};
	uint8_t image[] = {1, 2, 3};
	uint32_t stack = 0, index, thread;

	ck_assert(profile_init(profile, &err));
	ck_assert(profile_set_text(&profile->info.command, "x --y", &err));
	profile->info.machine = PROFILE_X86_64;
	profile->info.end = 99;
	profile->info.lost = 3;
	ck_assert(profile_add_module(profile, &module, &index, &err));
	module = (struct profile_module){.path = vdso, .image = image, .image_size = 3};
	ck_assert(profile_add_module(profile, &module, &index, &err));
	ck_assert_uint_eq(index, 1);
	ck_assert(profile_add_thread(profile, 5, 6, "comm", &thread, &err));
	for (unsigned int i = 0; i < n; i++) {
		struct profile_frame frame = {.address = 16 * i,
		    .kind = i % 4,
		    .module = i % 4 < 2,
		    .pid = i % 4 < 2 ? 0 : 5,
		    .flags = i % 2};
		struct profile_sample sample = {.time = i,
		    .weight = 2,
		    .cpu = i % 3,
		    .thread = thread,
		    .why = (uint8_t)(i % 9)};
		char name[] = "name";

		frame.name = i % 4 == 1 ? name : NULL;
		ck_assert(profile_add_frame(profile, &frame, &index, &err));
		ck_assert(
		    profile_add_stack(profile, i % 7 ? stack : 0, index, &stack, &err));
		sample.stack = stack;
		ck_assert(profile_add_sample(profile, &sample, &err));
	}
	if (n > 3)
		ck_assert(profile_name_frame(profile, 3, "made at run time", &err));
}

static int recording_bytes(const void *bytes, size_t size)
{
	int fd = memfd_create("recording", 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static size_t recording_written(
    const struct profile *profile, uint8_t *bytes, size_t size)
{
	int fd = memfd_create("recording", 0);
	ssize_t n;

	ck_assert(profile_write(profile, fd, &err));
	n = pread(fd, bytes, size, 0);
	ck_assert(n > 0 && (size_t)n < size);
	close(fd);
	return (size_t)n;
}

UNIT(recording_round_trip)
{
	static uint8_t bytes[1 << 20], again[1 << 20];
	struct profile profile, copy;
	size_t size;
	int fd;

	recording_fill(&profile, 3000);
	size = recording_written(&profile, bytes, sizeof(bytes));
	fd = recording_bytes(bytes, size);
	ck_assert(profile_init(&copy, &err));
	ck_assert_msg(profile_read(&copy, fd, "x", &err), "%s", err.text);
	ck_assert_uint_eq(copy.n_samples, 3000);
	ck_assert_uint_eq(copy.n_modules, 2);
	ck_assert_uint_eq(copy.info.lost, 3);
	ck_assert_str_eq(copy.info.command, "x --y");
	ck_assert_uint_eq(copy.modules[1].image_size, 3);
	ck_assert_uint_eq(copy.frames[3].kind, PROFILE_FRAME_JIT);
	ck_assert_str_eq(copy.frames[3].name, "made at run time");
	ck_assert_uint_eq(recording_written(&copy, again, sizeof(again)), size);
	ck_assert(memcmp(bytes, again, size) == 0);
	close(fd);
	profile_free(&profile);
	profile_free(&copy);
}

UNIT(recording_equal_elements_are_one)
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
	ck_assert(!profile_add_stack(&profile, 3, 0, &b, &err));
	ck_assert(!profile_add_stack(&profile, 0, 1, &b, &err));
	ck_assert(profile_add_thread(&profile, 1, 1, "a", &a, &err));
	ck_assert(profile_add_thread(&profile, 1, 1, "b", &b, &err));
	ck_assert_uint_ne(a, b);
	profile_free(&profile);
}

/* Random callers and frames, against a table. A caller's first callee is kept elsewhere than the others. */
UNIT(recording_callees)
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
	for (int round = 0; round < 3; round++) {
		memset(known, 0, sizeof(known));
		for (int i = 0; i < 20000; i++) {
			uint32_t caller = (uint32_t)rand_r(&seed) % STACKS;
			uint32_t frame = (uint32_t)rand_r(&seed) % FRAMES;
			size_t before = profile.n_stacks;

			if (caller >= before)
				continue;
			ck_assert(
			    profile_add_stack(&profile, caller, frame, &index, &err));
			ck_assert_uint_eq(
			    index, known[caller][frame] ? known[caller][frame] : before);
			ck_assert_uint_eq(profile.stacks[index].caller, caller);
			ck_assert_uint_eq(profile.stacks[index].frame, frame);
			known[caller][frame] = index;
		}
		ck_assert_uint_gt(profile.n_stacks, STACKS);
		profile_forget(&profile);
	}
	profile_free(&profile);
}

/* Stacks that are numbered again: the recorder removes its own to save memory. */
UNIT(recording_again_numbers)
{
	struct profile profile, copy;
	struct recording_writer writer;
	int fd = memfd_create("recording", 0);
	const struct profile_sample sample = {.stack = 1, .why = PROFILE_OUTERMOST};
	uint32_t stack;

	recording_fill(&profile, 10);
	ck_assert(recording_begin(&writer, fd, &profile, &err));
	ck_assert(recording_more(&writer, &profile, &err));
	ck_assert(recording_again(&writer, &err));
	profile_forget(&profile);
	ck_assert(profile_add_stack(&profile, 0, 9, &stack, &err));
	ck_assert(profile_add_sample(&profile, &sample, &err));
	ck_assert(recording_end(&writer, &profile, &err));
	recording_free(&writer);
	ck_assert(profile_init(&copy, &err));
	lseek(fd, 0, SEEK_SET);
	ck_assert_msg(profile_read(&copy, fd, "x", &err), "%s", err.text);
	ck_assert_uint_eq(copy.n_samples, 11);
	ck_assert_uint_eq(copy.stacks[copy.samples[10].stack].frame, 9);
	ck_assert_uint_eq(copy.stacks[copy.samples[10].stack].caller, 0);
	close(fd);
	profile_free(&profile);
	profile_free(&copy);
}

static void recording_check_indices(const struct profile *profile)
{
	for (size_t i = 1; i < profile->n_stacks; i++) {
		ck_assert_uint_lt(profile->stacks[i].caller, i);
		ck_assert_uint_lt(profile->stacks[i].frame, profile->n_frames);
	}
	for (size_t i = 0; i < profile->n_frames; i++)
		ck_assert(profile->frames[i].kind > PROFILE_FRAME_KERNEL ||
			  profile->frames[i].module < profile->n_modules);
	for (size_t i = 0; i < profile->n_samples; i++) {
		ck_assert_uint_lt(profile->samples[i].thread, profile->n_threads);
		ck_assert_uint_lt(profile->samples[i].stack, profile->n_stacks);
	}
}

UNIT(recording_damaged)
{
	static uint8_t bytes[1 << 16], bad[1 << 16];
	struct profile profile, copy;
	unsigned int refused = 0, seed = 1;
	size_t size;

	recording_fill(&profile, 60);
	size = recording_written(&profile, bytes, sizeof(bytes));
	for (unsigned int i = 0; i < 30000; i++) {
		size_t kept = i % 8 ? size : (size_t)rand_r(&seed) % (size + 1);
		int fd;

		memcpy(bad, bytes, size);
		for (unsigned int j = 0; j <= i % 3; j++)
			bad[(size_t)rand_r(&seed) % size] = (uint8_t)rand_r(&seed);
		fd = recording_bytes(bad, kept);
		ck_assert(profile_init(&copy, &err));
		if (!profile_read(&copy, fd, "x", &err)) {
			ck_assert(
			    err.kind == ERR_MALFORMED || err.kind == ERR_UNSUPPORTED);
			refused++;
		}
		recording_check_indices(&copy);
		profile_free(&copy);
		close(fd);
	}
	ck_assert_uint_gt(refused, 10000);
	profile_free(&profile);
}

/* A recording that was cut off has what was written, and no end. */
UNIT(recording_cut)
{
	static uint8_t bytes[1 << 16];
	struct profile profile, copy;
	size_t size, last = 0;

	recording_fill(&profile, 60);
	size = recording_written(&profile, bytes, sizeof(bytes));
	for (size_t kept = 64; kept < size; kept++) {
		int fd = recording_bytes(bytes, kept);

		ck_assert(profile_init(&copy, &err));
		ck_assert_msg(
		    profile_read(&copy, fd, "x", &err), "%zu: %s", kept, err.text);
		ck_assert_uint_eq(copy.info.end, 0);
		ck_assert_uint_ge(copy.n_samples, last);
		last = copy.n_samples;
		profile_free(&copy);
		close(fd);
	}
	ck_assert_uint_eq(last, 60);
	profile_free(&profile);
}
