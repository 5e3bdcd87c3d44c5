/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "profile/record/recorder.h"

static void walk_count(struct recorder *recorder, const struct event *event)
{
	const struct record_args *args = recorder->args;
	size_t i = 0;

	recorder->unwinder.n_samples++;
	while (i < args->n_pids && args->pids[i] != (pid_t)event->pid)
		i++;
	if (!args->n_pids || i < args->n_pids)
		recorder->sampled +=
		    args->cycles ? 1000000000 / args->frequency : event->weight;
}

/* Notes a file's build-id, once. The kernel gives none of what was mapped before; the file, which has its inode, does. */
static void walk_note_file(struct recorder *recorder, struct unwinder_file *file)
{
	const struct rows_file *mapped = &file->mapped;
	const struct facts *facts = &file->rows->facts;
	const bool told = mapped->build_id_size > 0;
	const uint32_t size = told ? mapped->build_id_size : facts->build_id_size;

	if (file->module != UINT32_MAX || size == 0)
		return;
	file->module = 0;
	perfdata_put_build_id(&recorder->writer, mapped->path,
	    told ? mapped->build_id : facts->build_id, size);
}

/* Notes a frame that has no name later, once. */
static void walk_note(
    struct recorder *recorder, struct space *space, uint64_t pc, unsigned int flags)
{
	struct unwinder *unwinder = &recorder->unwinder;
	struct unwinder_place *place = NULL;
	struct unwinder_file *file;
	struct err err;

	if (!unwinder_place_find(
		unwinder, space, pc, flags & PROFILE_FRAME_EXACT, &place, &err) ||
	    place->frame != UINT32_MAX)
		return;
	place->frame = 0;
	if (!space)
		return;
	file = place->file == SPACE_NO_FILE ? NULL : unwinder->files[place->file];
	if (file)
		walk_note_file(recorder, file);
	if (file && file->no_file)
		file = NULL;
	if (!file || file->rows->keeps_names)
		names_note(&recorder->names, &space->owner, file ? file->rows : NULL,
		    place->address,
		    &(struct names_seen){space->pid, !(flags & PROFILE_FRAME_EXACT), pc,
			space_name_key(space, pc)});
}

static bool walk_sample(struct recorder *recorder, const struct event *event)
{
	struct unwinder *unwinder = &recorder->unwinder;
	struct space *space = space_find(&unwinder->spaces, event->pid);
	struct perfdata_walked walked;

	if (!unwinder_walk(unwinder, space, event, &walked, &recorder->walk_err))
		return false;
	profile_ends_add(&unwinder->ends, walked.why, event->weight);
	for (size_t i = 0; i < walked.n; i++)
		walk_note(recorder, space, walked.pcs[i], walked.flags[i]);
	return perfdata_put_walked(
	    &recorder->writer, event, &walked, &recorder->walk_err);
}

/* Takes in a record. One of a recording with copies of stacks is kept as it is. */
static bool walk_record(struct recorder *recorder, const struct event *event,
    const uint8_t *bytes, size_t size)
{
	struct unwinder *unwinder = &recorder->unwinder;
	const bool raw = recorder->args->raw;

	if (event->kind == EVENT_SAMPLE)
		walk_count(recorder, event);
	if (event->kind == EVENT_SAMPLE && !raw)
		return walk_sample(recorder, event);
	if ((!raw || event->kind == EVENT_LOST) &&
	    !unwinder_take(unwinder, event, &recorder->walk_err))
		return false;
	if (event->kind == EVENT_EXIT && event->pid == event->tid &&
	    event->parent != (uint32_t)getpid() &&
	    !space_find(&unwinder->spaces, event->parent))
		recorder->n_orphans++;
	if (event->kind == EVENT_EXIT && !space_find(&unwinder->spaces, event->pid))
		names_of_process(&recorder->names, event->pid);
	return perfdata_put(&recorder->writer, bytes, size, &recorder->walk_err);
}

void *recorder_walk(void *context)
{
	struct recorder *recorder = context;
	const struct event_layout layout = event_layout(&recorder->perf.attr);
	const uint8_t *bytes;
	bool ok = true;
	size_t size;

	recorder->names.writer = &recorder->writer;
	while (ok && (bytes = queue_get(&recorder->queue, &size))) {
		struct event event;

		ok = !event_read(bytes, size, &layout, &event) ||
		     walk_record(recorder, &event, bytes, size);
		queue_done(&recorder->queue, size);
	}
	if (ok)
		names_end(&recorder->names);
	/* The other thread stops when it sees this. */
	queue_close(&recorder->queue);
	return NULL;
}

/* True if time a is less than nine tenths of time b by more than the chance of its samples. */
static bool walk_is_less(const struct recorder *recorder, double a, double b)
{
	double less = 0.9 * b - a;

	return less > 0 && less * less > 4 * b / recorder->args->frequency;
}

/* How many samples there are, and why their stacks end. */
static void walk_print_samples(const struct recorder *recorder)
{
	const struct profile_ends *ends = &recorder->unwinder.ends;
	const uint64_t n = recorder->unwinder.n_samples;
	const char *before = "; ended early: ";

	fprintf(stderr, "%llu samples", (unsigned long long)n);
	if (!recorder->args->raw && n > 0)
		fprintf(stderr, ", %llu reach the outermost frame (%.2f %%)",
		    (unsigned long long)(ends->n[PROFILE_OUTERMOST] +
					 ends->n[PROFILE_NO_STACK]),
		    profile_ends_share(ends, profile_why_complete));
	if (ends->n[PROFILE_GUESSED])
		fprintf(stderr, ", %llu more (%.2f %%) with frames by frame pointers",
		    (unsigned long long)ends->n[PROFILE_GUESSED],
		    profile_ends_share(ends, profile_why_guessed));
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++) {
		if (profile_why_outermost(why) || ends->n[why] == 0)
			continue;
		fprintf(stderr, "%s%llu %s", before, (unsigned long long)ends->n[why],
		    profile_why_text(why));
		before = ", ";
	}
	fputs(profile_ends_advice(ends), stderr);
	if (n == 0 && recorder->args->n_pids &&
	    !walk_is_less(recorder, 0, (double)recorder->used / 1e9))
		fputs(", because the processes did not run; those that they had started "
		      "before are recorded if you name them, too, or with -a",
		    stderr);
	fputs("; ", stderr);
}

/* Processes of a command that may have no samples, and whose time is not known: they have ended, or still run. */
static uint64_t walk_orphans(const struct recorder *recorder)
{
	const struct spaces *spaces = &recorder->unwinder.spaces;
	uint64_t n = recorder->n_orphans;

	if (!recorder->args->command || recorder->args->raw || recorder->perf.kept)
		return 0;
	for (size_t i = 0; i < spaces->n; i++)
		n += spaces->list[i].space->maps.n > 0;
	return n;
}

/* How much of the processor time has samples, and why the rest has none. */
static void walk_print_time(const struct recorder *recorder)
{
	const struct record_args *args = recorder->args;
	double sampled = (double)recorder->sampled / 1e9;
	double used = (double)recorder->used / 1e9;
	double lost = (double)recorder->unwinder.n_lost / args->frequency;
	uint64_t orphans = walk_orphans(recorder);

	fprintf(stderr, "; samples stand for %.2f s", sampled);
	/* Nobody waited for some of the processes. */
	if (recorder->used == 0 || walk_is_less(recorder, used, sampled))
		return;
	fprintf(stderr, " of %.2f s that were used%s", used,
	    recorder->perf.kernel ? "" : " outside the kernel");
	if (orphans)
		fprintf(stderr, ", without that of %llu process%s that nobody waited for",
		    (unsigned long long)orphans, orphans == 1 ? "" : "es");
	if (!walk_is_less(recorder, sampled, used))
		return;
	if (2 * lost > used - sampled)
		fputs(" (others were lost: give a lower -F or a smaller --stack-size)",
		    stderr);
	else if (recorder->perf.kept)
		fputs(" (the kernel took fewer than it was asked for: give a lower -F)",
		    stderr);
	else
		fprintf(stderr,
		    " (short threads and processes, and programs behind sudo, have none: "
		    "run it as root%s)",
		    args->frequency < 4999 ? ", or give -F 4999" : "");
}

bool recorder_is_partial(const struct recorder *recorder)
{
	return walk_is_less(recorder, (double)recorder->sampled / 1e9,
		   (double)recorder->used / 1e9) ||
	       (recorder->unwinder.n_samples == 0 && recorder->args->n_pids) ||
	       walk_orphans(recorder) || recorder->unwinder.n_failed ||
	       recorder->unwinder.n_refused || recorder->unwinder.spaces.n_forgotten ||
	       recorder->names.n_left_out ||
	       !(recorder->perf.kernel || recorder->args->user);
}

void recorder_summary(const struct recorder *recorder, const char *name)
{
	const struct unwinder *unwinder = &recorder->unwinder;
	uint64_t forgotten = unwinder->spaces.n_forgotten + unwinder->n_refused;

	fprintf(stderr, "eh2sframe-record: %s: ", name);
	/* The line before says this of a picture's samples. */
	if (!recorder->args->is_picture || unwinder->n_samples == 0)
		walk_print_samples(recorder);
	fprintf(stderr, "%llu lost", (unsigned long long)unwinder->n_lost);
	walk_print_time(recorder);
	if (!recorder->args->raw)
		fprintf(stderr, "; %zu files converted in %.3f s", unwinder->rows.n,
		    (double)unwinder->rows.ns / 1e9);
	if (unwinder->n_failed)
		fprintf(stderr, ", %zu could not be converted", unwinder->n_failed);
	if (forgotten)
		fprintf(stderr,
		    "; %llu mappings, processes, threads or files were forgotten, "
		    "because there were too many",
		    (unsigned long long)forgotten);
	if (recorder->names.n_left_out)
		fprintf(stderr,
		    "; names of %llu frames were left out, because their users had too "
		    "many or took too long",
		    (unsigned long long)recorder->names.n_left_out);
	if (!recorder->perf.kernel && !recorder->args->user)
		fputs("; frames of the kernel are not permitted: record as root", stderr);
}
