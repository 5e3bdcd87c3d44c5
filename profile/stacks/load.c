/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "profile/perfdata/format.h"
#include "profile/perfdata/read.h"
#include "profile/stacks/unwinder.h"

/* A recording on its way into a profile. */
struct load {
	struct profile *profile; /* borrowed */
	struct perfdata perfdata;
	struct unwinder unwinder;
	/* The stack of a sample: indices of frames, the first frame first. */
	uint32_t frames[UNWINDER_MAX_FRAMES + UNWINDER_MAX_KERNEL];
	size_t n;
};

/*
 * The addresses of a chain from a mark on, up to the next one. Without a chain, the sample's own, if it is of that mode. Returns how
 * many there are.
 */
static size_t sample_addresses(const struct event *event,
    enum perf_callchain_context mark, unsigned int mode, uint64_t *addresses, size_t most)
{
	bool inside = false;
	size_t n = 0;

	for (size_t i = 0; i < event->n_chain && n < most; i++) {
		uint64_t word;

		memcpy(&word, event->chain + 8 * i, sizeof(word));
		if (word >= (uint64_t)PERF_CONTEXT_MAX)
			inside = word == (uint64_t)mark;
		else if (inside)
			addresses[n++] = word;
	}
	if (!event->chain && event->cpu_mode == mode)
		addresses[n++] = event->ip;
	return n;
}

static bool sample_kernel(struct load *load, const struct event *event, struct err *err)
{
	char path[] = "[kernel]";
	const struct profile_module module = {
	    .path = path, .flags = PROFILE_MODULE_KERNEL};
	uint64_t addresses[UNWINDER_MAX_KERNEL];
	size_t n = sample_addresses(event, PERF_CONTEXT_KERNEL, PERF_RECORD_MISC_KERNEL,
	    addresses, UNWINDER_MAX_KERNEL);
	uint32_t kernel = 0;

	if (n && !profile_add_module(load->profile, &module, &kernel, err))
		return false;
	for (load->n = 0; load->n < n; load->n++) {
		const struct profile_frame frame = {.address = addresses[load->n],
		    .module = kernel,
		    .kind = PROFILE_FRAME_KERNEL,
		    .flags = load->n ? 0 : PROFILE_FRAME_EXACT};

		if (!profile_add_frame(
			load->profile, &frame, &load->frames[load->n], err))
			return false;
	}
	return true;
}

/* A module of the profile for a file. */
static bool sample_module(struct load *load, struct unwinder_file *file, struct err *err)
{
	const struct facts *facts = &file->rows->facts;
	struct profile_module module = {.path = (char *)(uintptr_t)file->mapped.path,
	    .build_id_size = facts->build_id_size,
	    .flags = file->failed ? PROFILE_MODULE_OFFSETS : 0,
	    .image = file->mapped.image,
	    .image_size = file->mapped.image_size};

	if (file->module != UINT32_MAX)
		return true;
	memcpy(module.build_id, facts->build_id, module.build_id_size);
	if (module.build_id_size == 0) {
		module.build_id_size = file->mapped.build_id_size;
		memcpy(module.build_id, file->mapped.build_id, module.build_id_size);
	}
	return profile_add_module(load->profile, &module, &file->module, err);
}

/* A frame that was not seen before in this process. */
static bool sample_new_frame(struct load *load, const struct space *space, uint8_t flags,
    struct unwinder_place *place, struct err *err)
{
	struct unwinder_file *file =
	    place->file == SPACE_NO_FILE ? NULL : load->unwinder.files[place->file];
	struct profile_frame frame = {.address = place->pc,
	    .kind = PROFILE_FRAME_UNKNOWN,
	    .pid = space ? space->pid : 0,
	    .flags = flags};

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
		frame.name = (char *)(uintptr_t)perfdata_name(
		    &load->perfdata, space->pid, space_name_key(space, place->pc));
	if (frame.name && frame.kind == PROFILE_FRAME_UNKNOWN)
		frame.kind = PROFILE_FRAME_JIT;
	return profile_add_frame(load->profile, &frame, &place->frame, err);
}

/* The program's frames, which are known by their PCs. */
static bool sample_user(struct load *load, struct space *space,
    const struct perfdata_walked *walked, struct err *err)
{
	for (size_t i = 0; i < walked->n; i++) {
		struct unwinder_place *place;

		if (!unwinder_place_find(&load->unwinder, space, walked->pcs[i],
			walked->flags[i] & PROFILE_FRAME_EXACT, &place, err))
			return false;
		if (place->frame == UINT32_MAX &&
		    !sample_new_frame(load, space, walked->flags[i], place, err))
			return false;
		load->frames[load->n++] = place->frame;
	}
	return true;
}

/* The stack that the recording has: of a walk, or by frame pointers, or the first frame alone. */
static void sample_given(
    struct load *load, const struct event *event, struct perfdata_walked *walked)
{
	uint64_t *pcs = load->unwinder.pcs;
	uint8_t *flags = load->unwinder.flags;
	const uint8_t *raw = event->raw;
	uint32_t mark = 0;
	uint8_t why;

	*walked =
	    (struct perfdata_walked){.pcs = pcs, .flags = flags, .why = PROFILE_GIVEN};
	walked->n = sample_addresses(
	    event, PERF_CONTEXT_USER, PERF_RECORD_MISC_USER, pcs, UNWINDER_MAX_FRAMES);
	memset(flags, 0, walked->n);
	flags[0] = PROFILE_FRAME_EXACT;
	/* How eh2sframe-record walked it: perfdata/format.h. */
	if (event->raw_size >= PERFDATA_WALKED_SIZE)
		memcpy(&mark, raw, sizeof(mark));
	if (mark != PERFDATA_WALKED)
		return;
	memcpy(&why, raw + sizeof(mark), sizeof(why));
	if (!why || why >= PROFILE_N_WHYS)
		return;
	walked->why = why;
	for (size_t i = 0; i < walked->n; i++)
		if (PERFDATA_WALKED_SIZE + i / 4 < event->raw_size)
			flags[i] = raw[PERFDATA_WALKED_SIZE + i / 4] >> 2 * (i % 4) & 3;
}

/* Adds a frame without an address, with which a stack begins. */
static bool sample_begin(struct load *load, enum profile_frame_kind kind,
    const char *name, uint32_t caller, uint32_t *stack, struct err *err)
{
	const struct profile_frame frame = {
	    .kind = kind, .name = (char *)(uintptr_t)name};
	uint32_t index;

	return profile_add_frame(load->profile, &frame, &index, err) &&
	       profile_add_stack(load->profile, caller, index, stack, err);
}

/* Adds a sample, after a walk of its stack where the recording has a copy. ERR_NOMEM, ERR_LIMIT. */
static bool load_sample(struct load *load, const struct event *event, struct err *err)
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
	    (!profile_add_thread(load->profile, event->pid, event->tid, thread->comm,
		 &thread->number, err) ||
		!sample_begin(load, PROFILE_FRAME_THREAD, thread->comm, 0,
		    &load->profile->threads[thread->number].stack, err)))
		return false;
	sample.thread = thread->number;
	sample.stack = load->profile->threads[sample.thread].stack;
	if (!sample_kernel(load, event, err))
		return false;
	if (load->unwinder.no_rows)
		sample_given(load, event, &walked);
	else if (!unwinder_walk(&load->unwinder, space, event, &walked, err))
		return false;
	sample.why = walked.why;
	if (!sample_user(load, space, &walked, err))
		return false;
	/* From its outermost frame on. */
	if (!profile_why_outermost(sample.why) &&
	    !sample_begin(load, PROFILE_FRAME_MARK, profile_why_text(sample.why),
		sample.stack, &sample.stack, err))
		return false;
	while (load->n)
		if (!profile_add_stack(load->profile, sample.stack,
			load->frames[--load->n], &sample.stack, err))
			return false;
	return profile_add_sample(load->profile, &sample, err);
}

static bool load_event(void *context, const struct event *event, struct err *err)
{
	struct load *load = context;

	if (event->kind == EVENT_MAP && event->pid == UINT32_MAX &&
	    strcmp(event->text, "[kernel.kallsyms]_text") == 0)
		load->profile->info.kernel_text = event->offset;
	if (event->kind != EVENT_SAMPLE)
		return unwinder_take(&load->unwinder, event, err);
	return load_sample(load, event, err);
}

static bool load_info(struct load *load, struct err *err)
{
	struct profile_info *info = &load->profile->info;
	const struct perfdata *perfdata = &load->perfdata;
	const struct perf_event_attr *attr = &perfdata->attrs[perfdata->first].attr;
	const char *name = *perfdata->event ? perfdata->event : "event";
	/* Its periods are times. */
	bool clock = attr->type == PERF_TYPE_SOFTWARE &&
		     (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
			 attr->config == PERF_COUNT_SW_TASK_CLOCK);

	info->start = perfdata->modified / 1000000000;
	if (attr->freq && attr->sample_freq <= UINT32_MAX)
		info->frequency = (uint32_t)attr->sample_freq;
	info->machine = unwinder_machine(perfdata->machine);
	if (!info->machine)
		return err_set(err, ERR_UNSUPPORTED,
		    "stacks of the machine %.64s cannot be walked, only those of x86-64, "
		    "AArch64 and s390x",
		    perfdata->machine);
	info->command = strdup(perfdata->command);
	info->host = strdup(perfdata->host);
	info->release = strdup(perfdata->release);
	info->event = strdup(name);
	info->unit = strdup(clock ? "ns" : name);
	return (info->command && info->host && info->release && info->event &&
		   info->unit) ||
	       err_set_nomem(err);
}

/* Names the kernel's frames, once each: a name is as long as a recording likes, and would be compared for each sample. */
static bool load_kernel_names(struct load *load, struct err *err)
{
	for (size_t i = 0; i < load->profile->n_frames; i++) {
		struct profile_frame *frame = &load->profile->frames[i];
		const char *name =
		    perfdata_name(&load->perfdata, UINT32_MAX, frame->address);

		if (frame->kind != PROFILE_FRAME_KERNEL || !name)
			continue;
		frame->name = strdup(name);
		if (!frame->name)
			return err_set_nomem(err);
	}
	return true;
}

static bool load_all(struct load *load, int fd, bool guess, struct err *err)
{
	const uint64_t copies = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	struct profile_info *info = &load->profile->info;
	const struct perfdata *perfdata = &load->perfdata;

	if (!perfdata_open(&load->perfdata, fd, err) || !load_info(load, err) ||
	    !unwinder_begin(&load->unwinder, (enum profile_machine)info->machine, err))
		return false;
	load->unwinder.live = false;
	load->unwinder.clock = perfdata->clock;
	load->unwinder.latest = perfdata->modified;
	load->unwinder.no_rows =
	    ~perfdata->attrs[perfdata->first].layout.sample_type & copies;
	load->unwinder.guess = guess;
	/* The vDSO is the one of this system. */
	if (profile_is_here(info))
		unwinder_vdso(&load->unwinder);
	if (!perfdata_each(&load->perfdata, load_event, load, err) ||
	    !load_kernel_names(load, err))
		return false;
	info->lost = load->unwinder.n_lost + perfdata->n_damaged;
	info->n_others = perfdata->n_others;
	info->cut_off = perfdata->cut_off;
	return true;
}

bool profile_load(struct profile *profile, int fd, bool guess, struct err *err)
{
	struct load *load = calloc(1, sizeof(*load));
	bool ok;

	if (!load)
		return err_set_nomem(err);
	load->profile = profile;
	profile_lost = NULL;
	ok = load_all(load, fd, guess, err);
	/* Zeros in place of bytes are the cause of other errors. */
	if (profile_lost && (uintptr_t)profile_lost - (uintptr_t)load->perfdata.bytes <
				load->perfdata.size)
		ok = err_set(err, ERR_IO,
		    "bytes of it could not be read, or it became shorter; copy it again");
	unwinder_free(&load->unwinder);
	perfdata_free(&load->perfdata);
	free(load);
	return ok;
}
