/* SPDX-License-Identifier: MIT */
#include "profile/stacks/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

uint32_t unwinder_machine(void)
{
#if defined(__x86_64__)
	return PROFILE_X86_64;
#elif defined(__aarch64__)
	return PROFILE_AARCH64;
#elif defined(__s390x__)
	return PROFILE_S390X;
#else
	return 0;
#endif
}

bool unwinder_begin(struct unwinder *unwinder, struct profile *profile, struct err *err)
{
	*unwinder = (struct unwinder){.profile = profile, .jit = true};
	unwinder->cache.n_entries = UNWINDER_RULES;
	unwinder->cache.entries =
	    calloc(UNWINDER_RULES, sizeof(*unwinder->cache.entries));
	unwinder->places = calloc(UNWINDER_PLACES, sizeof(*unwinder->places));
	unwinder->frames =
	    calloc(UNWINDER_MAX_FRAMES + UNWINDER_MAX_KERNEL, sizeof(*unwinder->frames));
	if (!unwinder->cache.entries || !unwinder->places || !unwinder->frames)
		return err_set_nomem(err);
	return true;
}

void unwinder_free(struct unwinder *unwinder)
{
	unwinder_files_free(unwinder);
	spaces_free(&unwinder->spaces);
	free(unwinder->cache.entries);
	free(unwinder->places);
	for (size_t i = 0; i < unwinder->n_homes; i++)
		jit_home_close(&unwinder->homes[i]);
	free(unwinder->homes);
	free(unwinder->unknown);
	free(unwinder->frames);
}

static struct jit_home *unwinder_home(struct unwinder *unwinder, uint32_t pid)
{
	for (size_t i = 0; i < unwinder->n_homes; i++)
		if (unwinder->homes[i].pid == pid)
			return &unwinder->homes[i];
	return NULL;
}

bool unwinder_note_unknown(struct unwinder *unwinder, uint32_t frame, struct err *err)
{
	const uint32_t pid = unwinder->profile->frames[frame].pid;

	if (unwinder->n_homes < UNWINDER_HOMES && !unwinder_home(unwinder, pid)) {
		if (!vec_reserve(
			&unwinder->homes, &unwinder->cap_homes, unwinder->n_homes + 1))
			return err_set_nomem(err);
		jit_home_open(&unwinder->homes[unwinder->n_homes++], pid);
	}
	if (!vec_reserve(
		&unwinder->unknown, &unwinder->cap_unknown, unwinder->n_unknown + 1))
		return err_set_nomem(err);
	unwinder->unknown[unwinder->n_unknown++] = frame;
	return true;
}

bool unwinder_kernel_frame(struct unwinder *unwinder, const struct profile_frame *at,
    uint32_t *index, struct err *err)
{
	struct profile_frame frame = *at;
	const char *name = NULL, *module_name = "[kernel]";
	struct profile_module module = {.flags = PROFILE_MODULE_KERNEL};

	if (unwinder->kernel)
		unwinder->kernel(
		    unwinder->kernel_context, frame.address, &name, &module_name);
	/* The functions of the model copy both. */
	module.path = (char *)(uintptr_t)module_name;
	frame.name = (char *)(uintptr_t)name;
	return profile_add_module(unwinder->profile, &module, &frame.module, err) &&
	       profile_add_frame(unwinder->profile, &frame, index, err);
}

/* Gives the frames of a process that are in no file their names, and forgets them. */
static bool unwinder_name(struct unwinder *unwinder, uint32_t pid, struct err *err)
{
	struct profile *profile = unwinder->profile;
	struct jit_home *home = unwinder_home(unwinder, pid), other;
	struct jit_names names;
	size_t kept = 0;
	bool ok = true;

	if (!home)
		jit_home_open(&other, pid);
	if (!jit_read(&names, home ? home : &other))
		names = (struct jit_names){0};
	jit_home_close(home ? home : &other);
	if (home)
		*home = unwinder->homes[--unwinder->n_homes];
	for (size_t i = 0; i < unwinder->n_unknown; i++) {
		uint32_t index = unwinder->unknown[i];
		const struct profile_frame *frame = &profile->frames[index];
		const char *name;

		if (frame->pid != pid) {
			unwinder->unknown[kept++] = index;
			continue;
		}
		name = jit_find(
		    &names, frame->address - !(frame->flags & PROFILE_FRAME_EXACT));
		if (name && ok)
			ok = profile_name_frame(profile, index, name, err) &&
			     (!unwinder->named ||
				 unwinder->named(unwinder->named_context, index, err));
	}
	unwinder->n_unknown = kept;
	jit_free(&names);
	return ok;
}

bool unwinder_end(struct unwinder *unwinder, struct err *err)
{
	while (unwinder->n_unknown > 0)
		if (!unwinder_name(unwinder,
			unwinder->profile->frames[unwinder->unknown[0]].pid, err))
			return false;
	return true;
}

static bool unwinder_sample(
    struct unwinder *unwinder, const struct event *event, struct err *err)
{
	struct profile_sample sample = {
	    .time = event->time, .weight = event->weight, .cpu = event->cpu};
	struct space_thread *thread =
	    space_thread_get(&unwinder->spaces, event->pid, event->tid, err);
	struct space *space = space_find(&unwinder->spaces, event->pid);

	if (!thread)
		return false;
	if (thread->number == UINT32_MAX &&
	    !profile_add_thread(unwinder->profile, event->pid, event->tid, thread->comm,
		&thread->number, err))
		return false;
	sample.thread = thread->number;
	if (!unwinder_walk(unwinder, space, event, &sample.stack, &sample.why, err))
		return false;
	unwinder->n_samples++;
	unwinder->n_whys[sample.why]++;
	return profile_add_sample(unwinder->profile, &sample, err);
}

static bool unwinder_map(
    struct unwinder *unwinder, const struct event *event, struct err *err)
{
	struct space_map map = {.start = event->start,
	    .end = event->start + event->size,
	    .offset = event->offset};

	/* The kernel's own, and those of its modules. */
	if (event->pid == UINT32_MAX)
		return true;
	return unwinder_file_get(unwinder, event, &map.file, err) &&
	       space_add_map(&unwinder->spaces, event->pid, &map, err);
}

static bool unwinder_exit(
    struct unwinder *unwinder, const struct event *event, struct err *err)
{
	if (!space_exit(&unwinder->spaces, event->pid, event->tid))
		return true;
	space_remove(&unwinder->spaces, event->pid);
	return unwinder->n_unknown == 0 || unwinder_name(unwinder, event->pid, err);
}

static size_t unwinder_n_registers(const struct unwinder *unwinder)
{
	return (size_t)__builtin_popcountll(unwinder_register_mask(
	    (enum profile_machine)unwinder->profile->info.machine));
}

bool unwinder_event(
    struct unwinder *unwinder, const uint8_t *bytes, size_t size, struct err *err)
{
	struct event event;

	if (!event_read(bytes, size, unwinder_n_registers(unwinder), &event))
		return true;
	switch (event.kind) {
	case EVENT_MAP:
		return unwinder_map(unwinder, &event, err);
	case EVENT_COMM:
		return space_comm(
		    &unwinder->spaces, event.pid, event.tid, event.text, event.exec, err);
	case EVENT_FORK:
		return space_fork(&unwinder->spaces, event.pid, event.tid, event.parent,
		    event.parent_tid, err);
	case EVENT_EXIT:
		return unwinder_exit(unwinder, &event, err);
	case EVENT_SAMPLE:
		return unwinder_sample(unwinder, &event, err);
	case EVENT_LOST:
		unwinder->n_lost += event.lost;
		return true;
	case EVENT_OTHER:
		return true;
	}
	return true;
}
