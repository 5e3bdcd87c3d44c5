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
/* Longer names are written each time: a recording could have many frames of one long name. */
enum { TEXT_MAX_KEPT = 512 };

/* The line of each frame is made once. */
struct text {
	const struct profile *profile;
	const struct naming *naming;
	FILE *out;
	char *lines;
	size_t size;
	/* End of the line of each frame; equal to the one before: it has none. */
	size_t *ends;
};

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
	    function->found || function->start ? function->name : "[unknown]");
	/* Readers cut off the last offset, which must not be the one in a name. */
	if ((function->found && place->offset) || function->start)
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

static bool text_is_kept(const struct text *text, uint32_t index)
{
	const struct profile_frame *frame = &text->profile->frames[index];
	uint32_t function = text->naming->places[index].function;
	size_t size = strlen(text->naming->functions[function].name);

	if (frame->kind <= PROFILE_FRAME_KERNEL)
		size += strlen(text->profile->modules[frame->module].path);
	return size <= TEXT_MAX_KEPT;
}

static bool text_make_lines(struct text *text, struct err *err)
{
	size_t n = text->profile->n_frames;
	FILE *lines = open_memstream(&text->lines, &text->size);

	text->ends = calloc(n + 1, sizeof(*text->ends));
	if (!lines || !text->ends) {
		if (lines)
			fclose(lines);
		return err_set_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		if (text_is_kept(text, (uint32_t)i))
			text_frame(text->profile, text->naming, (uint32_t)i, lines);
		fflush(lines);
		text->ends[i + 1] = text->size;
	}
	return fclose(lines) == 0 || err_set_nomem(err);
}

static void text_sample(
    const struct text *text, const struct profile_sample *sample, const char *event)
{
	const struct profile *profile = text->profile;
	const struct profile_thread *thread = &profile->threads[sample->thread];
	char *comm = plain_dup(thread->comm);

	fprintf(text->out,
	    "%s %u/%u [%03u] %" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s: \n",
	    comm ? comm : "?", thread->pid, thread->tid, sample->cpu,
	    sample->time / 1000000000, sample->time / 1000 % 1000000, sample->weight,
	    event);
	free(comm);
	for (uint32_t at = sample->stack; at; at = profile->stacks[at].caller) {
		uint32_t frame = profile->stacks[at].frame;
		size_t start = text->ends[frame], end = text->ends[frame + 1];

		if (end > start)
			fwrite_unlocked(text->lines + start, 1, end - start, text->out);
		else
			text_frame(profile, text->naming, frame, text->out);
	}
	fputc('\n', text->out);
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
	struct text text = {.profile = profile, .naming = naming, .out = out};
	char *event;
	bool ok;

	if (!text_fits(profile, naming, err))
		return false;
	event = plain_dup(*profile->info.event ? profile->info.event : "unknown");
	if (!event)
		return err_set_nomem(err);
	ok = text_make_lines(&text, err);
	for (size_t i = 0; ok && i < profile->n_samples && !ferror(out); i++)
		text_sample(&text, &profile->samples[i], event);
	free(event);
	free(text.lines);
	free(text.ends);
	return ok;
}
