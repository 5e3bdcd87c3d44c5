/* SPDX-License-Identifier: MIT */
/* The lists of a profile. Equal elements are found by a hash, so each is there once. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

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

bool profile_is_here(const struct profile_info *info)
{
	struct utsname name;

	return uname(&name) == 0 && strcmp(name.release, info->release) == 0 &&
	       strcmp(name.nodename, info->host) == 0;
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

static bool model_limit(struct err *err)
{
	return err_set(err, ERR_LIMIT,
	    "more than 4294967294 frames, stacks, functions or samples; record for a "
	    "shorter time");
}

bool profile_add(const struct profile_list *list, const void *element, uint32_t *index,
    struct err *err)
{
	uint8_t *elements;
	struct slot *slot;
	char *text, *other;
	const struct hash_key by = hash_key();
	uint64_t key[2] = {0, hash_bytes_by(by, element, list->text)};
	uint32_t hash;

	memcpy(&text, (const uint8_t *)element + list->text, sizeof(text));
	if (text)
		key[0] = hash_bytes_by(by, (const uint8_t *)text, strlen(text));
	hash = hash_fold_by(by, hash_bytes_by(by, (const uint8_t *)key, sizeof(key)));
	if (*list->n >= UINT32_MAX - 1)
		return model_limit(err);
	if (!vec_reserve_bytes(list->elements, list->cap, *list->n + 1, list->size) ||
	    !slots_reserve(list->slots, *list->n + 1))
		return err_set_nomem(err);
	memcpy(&elements, list->elements, sizeof(elements));
	for (slot = slots_first(list->slots, hash); slot->number;
	     slot = slots_next(list->slots, slot)) {
		const uint8_t *old = elements + list->size * (slot->number - 1);

		memcpy(&other, old + list->text, sizeof(other));
		*index = slot->number - 1;
		if (slot->hash == hash && memcmp(old, element, list->text) == 0 &&
		    (text && other ? strcmp(text, other) == 0 : text == other))
			return true;
	}
	if (text && !(text = strdup(text)))
		return err_set_nomem(err);
	*index = (uint32_t)*list->n;
	elements += list->size * (*list->n)++;
	memcpy(elements, element, list->size);
	memcpy(elements + list->text, &text, sizeof(text));
	*slot = (struct slot){.hash = hash, .number = *index + 1};
	return true;
}

bool profile_add_module(struct profile *profile, const struct profile_module *module,
    uint32_t *index, struct err *err)
{
	return profile_add(PROFILE_LIST(profile, module, path), module, index, err);
}

bool profile_add_frame(struct profile *profile, const struct profile_frame *frame,
    uint32_t *index, struct err *err)
{
	return profile_add(PROFILE_LIST(profile, frame, name), frame, index, err);
}

bool profile_add_thread(struct profile *profile, uint32_t pid, uint32_t tid,
    const char *comm, uint32_t *index, struct err *err)
{
	const struct profile_thread thread = {pid, tid, (char *)(uintptr_t)comm, 0};

	return profile_add(PROFILE_LIST(profile, thread, comm), &thread, index, err);
}

bool profile_add_stack(struct profile *profile, uint32_t caller, uint32_t frame,
    uint32_t *index, struct err *err)
{
	const uint32_t key[2] = {caller, frame};
	struct slot *slot;
	uint32_t hash;

	if (profile->n_stacks >= UINT32_MAX - 1)
		return model_limit(err);
	if (!vec_reserve(&profile->stacks, &profile->cap_stacks, profile->n_stacks + 1) ||
	    !slots_reserve(&profile->stack_slots, profile->n_further_stacks + 1))
		return err_set_nomem(err);
	*index = profile->stacks[caller].callee;
	if (*index && profile->stacks[*index].frame == frame)
		return true;
	/* Most stacks have one callee. They need no slot, whose memory would have to be fetched. */
	if (*index) {
		hash = hash_fold_by(profile->key,
		    hash_bytes_by(profile->key, (const uint8_t *)key, sizeof(key)));
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

bool profile_add_sample(
    struct profile *profile, const struct profile_sample *sample, struct err *err)
{
	if (!vec_reserve(
		&profile->samples, &profile->cap_samples, profile->n_samples + 1))
		return err_set_nomem(err);
	profile->samples[profile->n_samples++] = *sample;
	return true;
}
