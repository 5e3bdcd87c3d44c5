/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "profile/perfdata/format.h"
#include "profile/stacks/load.h"

static uint64_t sample_word(const struct event *event, size_t i)
{
	uint64_t word;

	memcpy(&word, event->chain + 8 * i, sizeof(word));
	return word;
}

static bool sample_add(
    struct load *load, const struct profile_frame *frame, struct err *err)
{
	return profile_add_frame(load->profile, frame, &load->frames[load->n++], err);
}

static bool sample_kernel_frame(
    struct load *load, uint64_t address, bool exact, struct err *err)
{
	char name[] = "[kernel]";
	const struct profile_module module = {
	    .path = name, .flags = PROFILE_MODULE_KERNEL};
	struct profile_frame frame = {.address = address,
	    .name =
		(char *)(uintptr_t)perfdata_name(&load->perfdata, UINT32_MAX, address),
	    .kind = PROFILE_FRAME_KERNEL,
	    .flags = exact ? PROFILE_FRAME_EXACT : 0};

	return profile_add_module(load->profile, &module, &frame.module, err) &&
	       sample_add(load, &frame, err);
}

/* The kernel's frames: addresses of the chain between marks, or the sample's own. */
static bool sample_kernel(struct load *load, const struct event *event, struct err *err)
{
	bool inside = false, first = true;

	for (size_t i = 0; i < event->n_chain && load->n < UNWINDER_MAX_KERNEL; i++) {
		uint64_t word = sample_word(event, i);

		if (word >= (uint64_t)PERF_CONTEXT_MAX) {
			inside = word == (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		if (!inside)
			continue;
		if (!sample_kernel_frame(load, word, first, err))
			return false;
		first = false;
	}
	if (event->chain || event->cpu_mode != PERF_RECORD_MISC_KERNEL)
		return true;
	return sample_kernel_frame(load, event->ip, true, err);
}

/* A module of the profile for a file. */
static bool sample_module(struct load *load, struct unwinder_file *file, struct err *err)
{
	const bool is_vdso = strcmp(file->path, "[vdso]") == 0;
	struct profile_module module = {.path = file->path,
	    .build_id_size = file->rows->facts.build_id_size,
	    .flags = file->failed ? PROFILE_MODULE_OFFSETS : 0,
	    .image = is_vdso ? (uint8_t *)(uintptr_t)load->unwinder.vdso : NULL,
	    .image_size = is_vdso ? load->unwinder.vdso_size : 0};

	if (file->module != UINT32_MAX)
		return true;
	memcpy(module.build_id, file->rows->facts.build_id, module.build_id_size);
	if (module.build_id_size == 0) {
		module.build_id_size = file->build_id_size;
		memcpy(module.build_id, file->build_id, file->build_id_size);
	}
	return profile_add_module(load->profile, &module, &file->module, err);
}

/* A frame that was not seen before in this process. */
static bool sample_new_frame(struct load *load, const struct space *space,
    const struct eh2sframe_walk_frame *at, struct unwinder_place *place, struct err *err)
{
	struct unwinder_file *file =
	    place->file == SPACE_NO_FILE ? NULL : load->unwinder.files[place->file];
	struct profile_frame frame = {.address = at->pc,
	    .kind = PROFILE_FRAME_UNKNOWN,
	    .pid = space ? space->pid : 0,
	    .flags = (uint8_t)at->flags};

	if (file && !file->no_file) {
		if (!sample_module(load, file, err))
			return false;
		frame.kind = PROFILE_FRAME_FILE;
		frame.pid = 0;
		frame.module = file->module;
		frame.address = place->address;
	}
	/* The functions of the model copy it. */
	if (load->perfdata.n_names && space)
		frame.name =
		    (char *)(uintptr_t)perfdata_name(&load->perfdata, space->pid, at->pc);
	if (frame.name && frame.kind == PROFILE_FRAME_UNKNOWN)
		frame.kind = PROFILE_FRAME_JIT;
	return profile_add_frame(load->profile, &frame, &place->frame, err);
}

_Static_assert((int)EH2SFRAME_WALK_FRAME_EXACT == PROFILE_FRAME_EXACT &&
		   (int)PERFDATA_FRAME_EXACT == PROFILE_FRAME_EXACT &&
		   (int)PERFDATA_FRAME_GUESSED == PROFILE_FRAME_GUESSED,
    "flags of frames are the same in all three");

/* The program's frames, which are known by their PCs. */
static bool sample_user(struct load *load, struct space *space,
    const struct perfdata_walked *walked, struct err *err)
{
	for (size_t i = 0; i < walked->n; i++) {
		const struct eh2sframe_walk_frame at = {
		    .pc = walked->pcs[i], .flags = walked->flags[i]};
		struct unwinder_place *place;

		if (!unwinder_place_find(&load->unwinder, space, &at, &place, err))
			return false;
		if (place->frame == UINT32_MAX &&
		    !sample_new_frame(load, space, &at, place, err))
			return false;
		load->frames[load->n++] = place->frame;
	}
	return true;
}

/* How eh2sframe-record walked the stack: perfdata/format.h. */
static void sample_read_how(
    const struct event *event, struct perfdata_walked *walked, uint8_t *flags)
{
	const uint8_t *raw = event->raw;
	uint32_t mark = 0;

	if (event->raw_size >= PERFDATA_WALKED_SIZE)
		memcpy(&mark, raw, sizeof(mark));
	if (mark != PERFDATA_WALKED || raw[4] >= PROFILE_N_WHYS || !raw[4])
		return;
	walked->why = raw[4];
	for (size_t i = 0; i < walked->n; i++)
		if (PERFDATA_WALKED_SIZE + i / 4 < event->raw_size)
			flags[i] = raw[PERFDATA_WALKED_SIZE + i / 4] >> 2 * (i % 4) & 3;
}

/* The stack that the recording has: of a walk, or by frame pointers, or the first frame alone. */
static void sample_given(
    struct load *load, const struct event *event, struct perfdata_walked *walked)
{
	uint64_t *pcs = load->unwinder.pcs;
	uint8_t *flags = load->unwinder.flags;
	bool inside = false;

	*walked =
	    (struct perfdata_walked){.pcs = pcs, .flags = flags, .why = PROFILE_GIVEN};
	for (size_t i = 0; i < event->n_chain && walked->n < UNWINDER_MAX_FRAMES; i++) {
		uint64_t word = sample_word(event, i);

		if (word >= (uint64_t)PERF_CONTEXT_MAX) {
			inside = word == (uint64_t)PERF_CONTEXT_USER;
			continue;
		}
		if (!inside)
			continue;
		flags[walked->n] = walked->n ? 0 : PROFILE_FRAME_EXACT;
		pcs[walked->n++] = word;
	}
	if (!event->chain && event->cpu_mode == PERF_RECORD_MISC_USER) {
		flags[0] = PROFILE_FRAME_EXACT;
		pcs[walked->n++] = event->ip;
	}
	sample_read_how(event, walked, flags);
}

/* Adds the stack to the profile, from its outermost frame on. */
static bool sample_stack(struct load *load, uint32_t *stack, struct err *err)
{
	*stack = 0;
	for (size_t i = load->n; i-- > 0;)
		if (!profile_add_stack(
			load->profile, *stack, load->frames[i], stack, err))
			return false;
	return true;
}

bool load_sample(struct load *load, const struct event *event, struct err *err)
{
	struct profile_sample sample = {.time = event->time, .weight = event->weight};
	struct spaces *spaces = &load->unwinder.spaces;
	struct space_thread *thread =
	    space_thread_get(spaces, event->pid, event->tid, err);
	struct space *space = space_find(spaces, event->pid);
	struct perfdata_walked walked;

	if (!thread)
		return false;
	if (thread->number == UINT32_MAX &&
	    !profile_add_thread(load->profile, event->pid, event->tid, thread->comm,
		&thread->number, err))
		return false;
	sample.thread = thread->number;
	load->n = 0;
	if (!sample_kernel(load, event, err))
		return false;
	if (load->unwinder.no_rows)
		sample_given(load, event, &walked);
	else if (!unwinder_walk(&load->unwinder, space, event, &walked, err))
		return false;
	sample.why = walked.why;
	return sample_user(load, space, &walked, err) &&
	       sample_stack(load, &sample.stack, err) &&
	       profile_add_sample(load->profile, &sample, err);
}
