/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "profile/record/recorder.h"

/* From here on stacks are numbered again, so that a long recording stays small. */
enum { WALK_MAX_STACKS = 4 << 20 };
/* Samples that are kept before they are written. */
enum { WALK_MAX_SAMPLES = 4096 };

static bool walk_named(void *context, uint32_t frame, struct err *err)
{
	struct recorder *recorder = context;

	/* One that is not written yet is written with its name. */
	return frame >= recorder->writer.n_frames ||
	       recording_name(&recorder->writer, &recorder->profile, frame, err);
}

/* Writes what is new. */
static bool walk_write(struct recorder *recorder, struct err *err)
{
	struct profile *profile = &recorder->profile;

	if (!recording_more(&recorder->writer, profile, err))
		return false;
	profile->n_samples = 0;
	recorder->writer.n_samples = 0;
	if (profile->n_stacks < WALK_MAX_STACKS)
		return true;
	profile_forget(profile);
	return recording_again(&recorder->writer, err);
}

/* A record of a raw recording is kept as it is. The kernel's names are known only now. */
static bool walk_raw(
    struct recorder *recorder, const uint8_t *bytes, size_t size, struct err *err)
{
	struct unwinder *unwinder = &recorder->unwinder;
	struct event event;
	uint32_t stack;
	uint8_t why;

	if (event_read(bytes, size,
		(size_t)__builtin_popcountll(recorder->perf.attr.sample_regs_user),
		&event)) {
		if (event.kind == EVENT_LOST)
			unwinder->n_lost += event.lost;
		if (event.kind == EVENT_SAMPLE) {
			unwinder->n_samples++;
			event.registers = NULL;
			if (!unwinder_walk(unwinder, NULL, &event, &stack, &why, err))
				return false;
		}
	}
	return recording_more(&recorder->writer, &recorder->profile, err) &&
	       recording_event(&recorder->writer, bytes, size, err);
}

static bool walk_all(struct recorder *recorder, struct err *err)
{
	const uint8_t *bytes;
	size_t size;

	while ((bytes = queue_get(&recorder->queue, &size))) {
		if (recorder->args->raw) {
			if (!walk_raw(recorder, bytes, size, err))
				return false;
		} else if (!unwinder_event(&recorder->unwinder, bytes, size, err)) {
			return false;
		}
		queue_done(&recorder->queue);
		if (recorder->profile.n_samples >= WALK_MAX_SAMPLES &&
		    !walk_write(recorder, err))
			return false;
	}
	return unwinder_end(&recorder->unwinder, err);
}

void *recorder_walk(void *context)
{
	struct recorder *recorder = context;

	recorder->unwinder.named = walk_named;
	recorder->unwinder.named_context = recorder;
	recorder->walk_failed = !walk_all(recorder, &recorder->walk_err);
	/* The other thread stops when it sees this. */
	queue_close(&recorder->queue);
	return NULL;
}

static void walk_print_whys(const struct unwinder *unwinder)
{
	const char *before = "; ended early: ";

	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		if (profile_why_complete(why) || unwinder->n_whys[why] == 0)
			continue;
		fprintf(stderr, "%s%llu %s", before,
		    (unsigned long long)unwinder->n_whys[why], profile_why_text(why));
		before = ", ";
	}
}

void recorder_summary(const struct recorder *recorder)
{
	const struct unwinder *unwinder = &recorder->unwinder;
	uint64_t forgotten = unwinder->spaces.n_forgotten + unwinder->n_refused;
	uint64_t complete =
	    unwinder->n_whys[PROFILE_OUTERMOST] + unwinder->n_whys[PROFILE_NO_STACK];

	fprintf(stderr, "eh2sframe-record: %s: %llu samples", recorder->args->output,
	    (unsigned long long)unwinder->n_samples);
	if (!recorder->args->raw && unwinder->n_samples > 0)
		fprintf(stderr, ", %llu reach the outermost frame (%.2f %%)",
		    (unsigned long long)complete,
		    100.0 * (double)complete / (double)unwinder->n_samples);
	walk_print_whys(unwinder);
	fprintf(stderr, "; %llu lost", (unsigned long long)unwinder->n_lost);
	if (!recorder->args->raw)
		fprintf(stderr, "; %zu files converted in %.3f s", unwinder->rows.n,
		    (double)unwinder->rows.ns / 1e9);
	if (unwinder->n_failed)
		fprintf(stderr, ", %zu could not be", unwinder->n_failed);
	if (forgotten)
		fprintf(stderr,
		    "; %llu mappings, processes, threads or files were forgotten, as "
		    "there were too many",
		    (unsigned long long)forgotten);
	fprintf(stderr, "%s\n",
	    recorder->perf.kernel || recorder->args->user
		? ""
		: "; frames of the kernel are not permitted");
}
