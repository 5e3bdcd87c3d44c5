/* SPDX-License-Identifier: MIT */
/* The lists of a profile. Equal elements are found by a hash, so each is there once. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/profile.h"

const char *profile_why_text(unsigned int why)
{
	static const char *const TEXTS[PROFILE_N_WHYS] = {
	    [PROFILE_OUTERMOST] = "outermost frame",
	    [PROFILE_LIMIT] = "too many frames",
	    [PROFILE_NO_MODULE] = "address in no file",
	    [PROFILE_NO_ROW] = "code without a row",
	    [PROFILE_LOST_REGISTER] = "register not known",
	    [PROFILE_CUT_OFF] = "copy of the stack cut off",
	    [PROFILE_CONTRADICTION] = "contradiction",
	    [PROFILE_DAMAGED] = "damaged rows",
	    [PROFILE_NO_STACK] = "thread of the kernel",
	    [PROFILE_NO_ROWS] = "file without rows",
	    [PROFILE_ZERO] = "return address 0",
	    [PROFILE_GIVEN] = "as recorded",
	    [PROFILE_GUESSED] = "outermost frame, by frame pointers",
	};

	return why < PROFILE_N_WHYS && TEXTS[why] ? TEXTS[why] : "unknown reason";
}

bool profile_why_complete(unsigned int why)
{
	return why == PROFILE_OUTERMOST || why == PROFILE_NO_STACK;
}

bool profile_why_guessed(unsigned int why)
{
	return why == PROFILE_GUESSED;
}

bool profile_why_outermost(unsigned int why)
{
	return profile_why_complete(why) || profile_why_guessed(why);
}

void profile_ends_add(struct profile_ends *ends, unsigned int why, uint64_t weight)
{
	ends->n[why]++;
	ends->weights[why] += (double)weight;
}

double profile_ends_share(
    const struct profile_ends *ends, bool (*is_so)(unsigned int why))
{
	double part = 0, all = 0;

	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		part += is_so(why) ? ends->weights[why] : 0;
		all += ends->weights[why];
	}
	return all > 0 ? 100 * part / all : 0;
}

const char *profile_ends_advice(const struct profile_ends *ends)
{
	static const char *const ADVICE[PROFILE_N_WHYS] = {
	    [PROFILE_NO_MODULE] = "; code made at run time needs frame pointers (Java: "
				  "-XX:+PreserveFramePointer) and no --no-guess; "
				  "-a needs the PID namespace of the host",
	    [PROFILE_NO_ROW] = "; code without CFI needs -fasynchronous-unwind-tables, "
			       "or -fno-omit-frame-pointer and no --no-guess",
	    [PROFILE_CUT_OFF] = "; a stack larger than its copy needs a larger "
				"--stack-size (up to 63480)",
	    [PROFILE_NO_ROWS] = "; files need CFI and must stay as they were: record as "
				"root and without --raw",
	    [PROFILE_GIVEN] = "; recordings of eh2sframe-record or perf record "
			      "--call-graph dwarf say which stacks are complete",
	};
	unsigned int most = 0;
	double all = 0;

	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		all += ends->weights[why];
		if (!profile_why_outermost(why) &&
		    ends->weights[why] > ends->weights[most])
			most = why;
	}
	return ADVICE[most] && 100 * ends->weights[most] > all ? ADVICE[most] : "";
}

bool profile_set_text(char **text, const char *value, struct err *err)
{
	char *copy = strdup(value);

	if (!copy)
		return err_set_nomem(err);
	free(*text);
	*text = copy;
	return true;
}

bool profile_init(struct profile *profile, struct err *err)
{
	memset(profile, 0, sizeof(*profile));
	if (!vec_reserve(&profile->stacks, &profile->cap_stacks, 1))
		return err_set_nomem(err);
	memset(profile->stacks, 0, sizeof(*profile->stacks));
	profile->n_stacks = 1;
	profile->key = hash_key();
	return true;
}

void profile_free(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_modules; i++)
		free(profile->modules[i].path);
	for (size_t i = 0; i < profile->n_frames; i++)
		free(profile->frames[i].name);
	for (size_t i = 0; i < profile->n_threads; i++)
		free(profile->threads[i].comm);
	free(profile->modules);
	free(profile->frames);
	free(profile->stacks);
	free(profile->threads);
	free(profile->samples);
	free(profile->module_slots.list);
	free(profile->frame_slots.list);
	free(profile->stack_slots.list);
	free(profile->thread_slots.list);
	free(profile->info.event);
	free(profile->info.unit);
	free(profile->info.command);
	free(profile->info.host);
	free(profile->info.release);
	memset(profile, 0, sizeof(*profile));
}

/* Makes room for one element more in the list of one kind, and for n_slots slots. */
#define MODEL_RESERVE(profile, kind, n_slots, err)                                       \
	((profile)->n_##kind##s >= UINT32_MAX - 1                                        \
		? err_set(err, ERR_LIMIT,                                                \
		      "more than 4294967294 frames, stacks or samples; "                 \
		      "record for a shorter time")                                       \
	    : !vec_reserve(&(profile)->kind##s, &(profile)->cap_##kind##s,               \
		  (profile)->n_##kind##s + 1) ||                                         \
		    !slots_reserve(&(profile)->kind##_slots, n_slots)                    \
		? err_set_nomem(err)                                                     \
		: true)

static uint32_t model_hash(const struct profile *profile, const void *bytes, size_t size)
{
	return hash_fold_by(profile->key, hash_bytes_by(profile->key, bytes, size));
}

bool profile_add_module(struct profile *profile, const struct profile_module *module,
    uint32_t *index, struct err *err)
{
	const uint64_t key[3] = {
	    hash_bytes((const uint8_t *)module->path, strlen(module->path)),
	    hash_bytes(module->build_id, module->build_id_size), module->flags};
	uint32_t hash = model_hash(profile, key, sizeof(key));
	struct profile_module *added;
	struct slot *slot;

	if (!MODEL_RESERVE(profile, module, profile->n_modules + 1, err))
		return false;
	for (slot = slots_first(&profile->module_slots, hash); slot->number;
	     slot = slots_next(&profile->module_slots, slot)) {
		const struct profile_module *old = &profile->modules[slot->number - 1];

		*index = slot->number - 1;
		if (slot->hash == hash && old->build_id_size == module->build_id_size &&
		    old->flags == module->flags &&
		    memcmp(old->build_id, module->build_id, old->build_id_size) == 0 &&
		    strcmp(old->path, module->path) == 0)
			return true;
	}
	added = &profile->modules[profile->n_modules];
	*added = *module;
	added->path = NULL;
	if (!profile_set_text(&added->path, module->path, err))
		return false;
	*index = (uint32_t)profile->n_modules++;
	*slot = (struct slot){.hash = hash, .number = *index + 1};
	return true;
}

bool profile_add_frame(struct profile *profile, const struct profile_frame *frame,
    uint32_t *index, struct err *err)
{
	struct profile_frame *added;
	struct slot *slot;
	uint64_t key[3] = {frame->address, (uint64_t)frame->module << 32 | frame->pid,
	    (uint64_t)frame->flags << 8 | frame->kind};
	uint32_t hash = model_hash(profile, key, sizeof(key));

	if (!MODEL_RESERVE(profile, frame, profile->n_frames + 1, err))
		return false;
	for (slot = slots_first(&profile->frame_slots, hash); slot->number;
	     slot = slots_next(&profile->frame_slots, slot)) {
		const struct profile_frame *old = &profile->frames[slot->number - 1];

		if (slot->hash != hash || old->address != frame->address ||
		    old->module != frame->module || old->pid != frame->pid ||
		    old->kind != frame->kind || old->flags != frame->flags)
			continue;
		*index = slot->number - 1;
		return true;
	}
	added = &profile->frames[profile->n_frames];
	*added = *frame;
	added->name = NULL;
	if (frame->name && !profile_set_text(&added->name, frame->name, err))
		return false;
	*index = (uint32_t)profile->n_frames++;
	*slot = (struct slot){.hash = hash, .number = *index + 1};
	return true;
}

bool profile_add_stack(struct profile *profile, uint32_t caller, uint32_t frame,
    uint32_t *index, struct err *err)
{
	const uint32_t key[2] = {caller, frame};
	struct slot *slot;
	uint32_t hash;

	if (!MODEL_RESERVE(profile, stack, profile->n_further_stacks + 1, err))
		return false;
	*index = profile->stacks[caller].callee;
	if (*index && profile->stacks[*index].frame == frame)
		return true;
	/* Most stacks have one callee. They need no slot, whose memory would have to be fetched. */
	if (*index) {
		hash = model_hash(profile, key, sizeof(key));
		for (slot = slots_first(&profile->stack_slots, hash); slot->number;
		     slot = slots_next(&profile->stack_slots, slot)) {
			const struct profile_stack *old;

			*index = slot->number - 1;
			old = &profile->stacks[*index];
			if (slot->hash == hash && old->caller == caller &&
			    old->frame == frame)
				return true;
		}
		*slot = (struct slot){hash, (uint32_t)profile->n_stacks + 1};
		profile->n_further_stacks++;
	} else {
		profile->stacks[caller].callee = (uint32_t)profile->n_stacks;
	}
	*index = (uint32_t)profile->n_stacks++;
	profile->stacks[*index] =
	    (struct profile_stack){.caller = caller, .frame = frame};
	return true;
}

bool profile_add_thread(struct profile *profile, uint32_t pid, uint32_t tid,
    const char *comm, uint32_t *index, struct err *err)
{
	const uint64_t key[2] = {
	    (uint64_t)pid << 32 | tid, hash_bytes((const uint8_t *)comm, strlen(comm))};
	uint32_t hash = model_hash(profile, key, sizeof(key));
	struct profile_thread *added;
	struct slot *slot;

	if (!MODEL_RESERVE(profile, thread, profile->n_threads + 1, err))
		return false;
	for (slot = slots_first(&profile->thread_slots, hash); slot->number;
	     slot = slots_next(&profile->thread_slots, slot)) {
		const struct profile_thread *old = &profile->threads[slot->number - 1];

		if (old->pid != pid || old->tid != tid || strcmp(old->comm, comm) != 0)
			continue;
		*index = slot->number - 1;
		return true;
	}
	added = &profile->threads[profile->n_threads];
	*added = (struct profile_thread){.pid = pid, .tid = tid};
	if (!profile_set_text(&added->comm, comm, err))
		return false;
	*index = (uint32_t)profile->n_threads++;
	*slot = (struct slot){.hash = hash, .number = *index + 1};
	return true;
}

bool profile_add_sample(
    struct profile *profile, const struct profile_sample *sample, struct err *err)
{
	if (!vec_reserve(
		&profile->samples, &profile->cap_samples, profile->n_samples + 1))
		return err_set_nomem(err);
	profile->samples[profile->n_samples++] = *sample;
	return true;
}
