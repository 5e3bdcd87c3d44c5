/* SPDX-License-Identifier: MIT */
/*
 * Samples in the order of time, in the form of perf script, which many programs read:
 *
 *     NAME PID/TID [CPU] SECONDS: WEIGHT EVENT:
 *             ADDRESS FUNCTION+OFFSET (FILE)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "profile/output/output.h"

/* Bytes of a line besides its names. */
enum { TEXT_LINE = 64 };

/* Where a file's name stands, readers expect no blanks. */
static void text_path(const char *path, FILE *out)
{
	char *plain = plain_dup(path);

	for (const char *at = plain ? plain : "?"; *at; at++)
		if (*at == ' ')
			fputs("\\040", out);
		else
			fputc(*at, out);
	free(plain);
}

static void text_frame(
    const struct profile *profile, const struct naming *naming, uint32_t index, FILE *out)
{
	const struct profile_frame *frame = &profile->frames[index];
	const struct naming_place *place = &naming->places[index];
	const struct naming_function *function = &naming->functions[place->function];

	fprintf(out, "\t%16" PRIx64 " %s", frame->address,
	    function->found ? function->name : "[unknown]");
	if (function->found && place->offset)
		fprintf(out, "+0x%" PRIx64, place->offset);
	fputs(" (", out);
	if (function->kind == PROFILE_FRAME_JIT)
		fprintf(out, "/tmp/perf-%u.map", frame->pid);
	else if (function->kind == PROFILE_FRAME_UNKNOWN)
		fputs("[unknown]", out);
	else
		text_path(profile->modules[frame->module].path, out);
	fputs(")\n", out);
}

static void text_sample(const struct profile *profile, const struct naming *naming,
    const struct profile_sample *sample, const char *event, FILE *out)
{
	const struct profile_thread *thread = &profile->threads[sample->thread];
	char *comm = plain_dup(thread->comm);

	fprintf(out, "%s %u/%u [%03u] %" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s: \n",
	    comm ? comm : "?", thread->pid, thread->tid, sample->cpu,
	    sample->time / 1000000000, sample->time / 1000 % 1000000, sample->weight,
	    event);
	free(comm);
	for (uint32_t at = sample->stack; at; at = profile->stacks[at].caller)
		text_frame(profile, naming, profile->stacks[at].frame, out);
	fputc('\n', out);
}

static bool text_fits(
    const struct profile *profile, const struct naming *naming, struct err *err)
{
	uint64_t *sizes = calloc(profile->n_stacks, sizeof(*sizes)), sum = 0;

	if (!sizes)
		return err_set_nomem(err);
	for (size_t i = 1; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		uint32_t function = naming->places[stack->frame].function;
		const struct profile_frame *frame = &profile->frames[stack->frame];

		sizes[i] = sizes[stack->caller] + TEXT_LINE +
			   strlen(naming->functions[function].name);
		if (frame->kind == PROFILE_FRAME_FILE)
			sizes[i] += strlen(profile->modules[frame->module].path);
	}
	for (size_t i = 0; i < profile->n_samples && sum <= OUTPUT_MAX_SIZE; i++)
		sum += sizes[profile->samples[i].stack] + 2 * TEXT_LINE;
	free(sizes);
	return sum <= OUTPUT_MAX_SIZE ||
	       err_set(err, ERR_LIMIT,
		   "the samples have more than %" PRIu64 " GiB as text: its stacks are "
		   "too deep; use --format=html",
		   OUTPUT_MAX_SIZE >> 30);
}

bool output_text(const struct profile *profile, const struct naming *naming, FILE *out,
    struct err *err)
{
	char *event;

	if (!text_fits(profile, naming, err))
		return false;
	event = plain_dup(*profile->info.event ? profile->info.event : "unknown");
	if (!event)
		return err_set_nomem(err);
	for (size_t i = 0; i < profile->n_samples && !ferror(out); i++)
		text_sample(profile, naming, &profile->samples[i], event, out);
	free(event);
	return true;
}
