/* SPDX-License-Identifier: MIT */
/*
 * Rounds. What is expected of a function's callees decides what is known behind its calls: so what
 * is found of one round's functions decides what the next one looks at again.
 */
#include "gen/check/derive/derive.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/task.h"
#include "base/vec.h"
#include "gen/check/derive/exclude.h"
#include "gen/check/derive/function.h"
#include "gen/check/derive/orphans.h"

/* Real files need 20 or fewer. A file that is not settled by then gets no rows. */
enum { DERIVE_MAX_ROUNDS = 256 };
/* From this one on, less and less is expected of a function. */
enum { DERIVE_FREE_ROUNDS = 16 };
/* And so often functions are looked for that the file does not name. */
enum { DERIVE_MAX_PASSES = 4 };
/* Groups that a thread takes at a time. */
enum { DERIVE_CHUNK = 16 };

struct derive_run {
	const struct image *image;
	const struct cfi_input *input;
	const struct derive_trial *trial;
	struct derived *rows; /* the result */
	struct validate_callees callees;
	struct derive_gaps gaps;
	struct derive_starts starts, dropped;
	struct derive_links links;
	struct derive_groups groups;
	struct derive_call *calls;
	size_t n_calls, cap_calls;
	struct validate_refs refs;
	uint64_t *askers, *fp_needed;
	size_t n_askers, cap_askers, n_fp_needed, cap_fp_needed;
	struct derived seen;
	bool settled;
	struct derive_worker *workers;
	size_t n_workers;
	atomic_size_t next; /* group */
};

struct derive_thread {
	struct derive_run *run;
	struct derive_worker *worker;
};

static void look_run(void *context)
{
	struct derive_thread *thread = context;
	const struct derive_groups *groups = &thread->run->groups;

	while (!thread->worker->nomem) {
		size_t first = atomic_fetch_add(&thread->run->next, DERIVE_CHUNK);

		if (first >= groups->n_groups)
			return;
		for (size_t i = first; i < first + DERIVE_CHUNK && i < groups->n_groups;
		     i++)
			if (!derive_unit(thread->worker,
				&groups->members[groups->first[i]],
				groups->first[i + 1] - groups->first[i]))
				thread->worker->nomem = true;
	}
}

static bool look_round(struct derive_run *run, struct derive_thread *threads, bool emit)
{
	bool ok = true;

	atomic_store(&run->next, 0);
	for (size_t i = 0; i < run->n_workers; i++) {
		run->workers[i].emit = emit;
		run->workers[i].refs = &run->refs;
	}
	task_run_all(look_run, threads, sizeof(*threads), run->n_workers);
	for (size_t i = 0; i < run->n_workers; i++)
		ok &= !run->workers[i].nomem;
	return ok;
}

/* ---- what a round found ---- */

/* Appends and empties another list. */
static bool take(
    void *list, size_t *n, size_t *cap, const void *from, size_t *n_from, size_t size)
{
	char *bytes;

	if (*n + *n_from > *cap && !vec_reserve_bytes(list, cap, *n + *n_from, size))
		return false;
	memcpy(&bytes, list, sizeof(bytes));
	if (*n_from)
		memcpy(bytes + *n * size, from, *n_from * size);
	*n += *n_from;
	*n_from = 0;
	return true;
}

#define TAKE(to, n, cap, from, n_from)                                                   \
	take(&(to), &(n), &(cap), (from), &(n_from), sizeof(*(to)))

static bool take_all(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_workers; i++) {
		struct derive_worker *worker = &run->workers[i];

		if (!TAKE(run->links.list, run->links.n, run->links.cap,
			worker->links.list, worker->links.n) ||
		    !TAKE(run->starts.list, run->starts.n, run->starts.cap,
			worker->starts.list, worker->starts.n) ||
		    !TAKE(run->dropped.list, run->dropped.n, run->dropped.cap,
			worker->dropped.list, worker->dropped.n) ||
		    !TAKE(run->calls, run->n_calls, run->cap_calls, worker->calls,
			worker->n_calls) ||
		    !validate_refs_take(&run->refs, &worker->found) ||
		    !TAKE(run->askers, run->n_askers, run->cap_askers, worker->askers,
			worker->n_askers) ||
		    !TAKE(run->fp_needed, run->n_fp_needed, run->cap_fp_needed,
			worker->fp_needed, worker->n_fp_needed))
			return false;
	}
	return true;
}

/* For qsort: pairs of addresses. */
static int order_pairs(const void *a, const void *b)
{
	int first = search_order(a, b);

	return first ? first
		     : search_order((const uint64_t *)a + 1, (const uint64_t *)b + 1);
}

/* Sorts addresses, or pairs of them, and keeps one of those that are equal. */
static size_t unique(void *list, size_t n, size_t size)
{
	char *bytes = list;
	size_t kept = 0;

	if (n)
		qsort(
		    list, n, size, size == sizeof(uint64_t) ? search_order : order_pairs);
	for (size_t i = 0; i < n; i++)
		if (!kept || memcmp(bytes + (kept - 1) * size, bytes + i * size, size))
			memmove(bytes + kept++ * size, bytes + i * size, size);
	return kept;
}

/* The piece is to be looked at again. */
static void look_again(struct derive_run *run, uint64_t addr)
{
	size_t i = derive_piece_at(&run->groups, addr);

	if (i != SIZE_MAX)
		run->groups.pieces[i].done = false;
}

static void look_again_at_callers(struct derive_run *run, uint64_t callee)
{
	for (size_t i = search_list_from(run->calls, run->n_calls, callee, callee);
	     i < run->n_calls && run->calls[i].callee == callee; i++)
		look_again(run, run->calls[i].caller);
}

/* Takes away the weak starts that were dropped. What goes there no longer goes to a function. */
static void drop_starts(struct derive_run *run)
{
	size_t n = 0, at = 0;

	derive_starts_sort(&run->dropped);
	for (size_t i = 0; i < run->starts.n; i++) {
		const struct derive_start start = run->starts.list[i];

		while (at < run->dropped.n && run->dropped.list[at].addr < start.addr)
			at++;
		if (start.doubt < DERIVE_WEAK || at == run->dropped.n ||
		    run->dropped.list[at].addr != start.addr)
			run->starts.list[n++] = start;
		else
			look_again_at_callers(run, start.addr);
	}
	run->starts.n = n;
}

/* The callers of a function whose summary changed are looked at again. */
static void publish(struct derive_run *run, int round)
{
	run->n_calls = unique(run->calls, run->n_calls, sizeof(*run->calls));
	for (size_t i = 0; i < run->groups.n; i++) {
		struct derive_piece *piece = &run->groups.pieces[i];

		if (!piece->done || !piece->entry)
			continue;
		/* So that functions that depend on each other come to an end. */
		if (round >= DERIVE_FREE_ROUNDS) {
			piece->next.returns &= piece->summary.returns;
			piece->next.kept &= piece->summary.kept;
			piece->next.back &= piece->summary.back;
		}
		if (piece->summary.returns == piece->next.returns &&
		    piece->summary.back == piece->next.back &&
		    piece->summary.kept == piece->next.kept)
			continue;
		piece->summary = piece->next;
		look_again_at_callers(run, piece->start);
	}
}

/* Rows of these functions must tell the frame pointer. */
static void publish_needs(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_fp_needed; i++) {
		size_t at = derive_piece_at(&run->groups, run->fp_needed[i]);

		if (at == SIZE_MAX || run->groups.pieces[at].fp_needed)
			continue;
		run->groups.pieces[at].fp_needed = true;
		run->groups.pieces[at].done = false;
	}
	run->n_fp_needed = 0;
}

/* What a round found changes what the next one sees. False: out of memory. */
static bool learn(struct derive_run *run, int round)
{
	size_t n_links = run->links.n, n_refs = run->refs.n;

	if (!take_all(run))
		return false;
	publish(run, round);
	publish_needs(run);
	for (size_t i = n_links; i < run->links.n; i++)
		look_again(run, run->links.list[i].from);
	run->links.n = unique(run->links.list, run->links.n, sizeof(*run->links.list));
	derive_starts_sort(&run->starts);
	drop_starts(run);
	validate_refs_sort(&run->refs);
	if (run->refs.n != n_refs) {
		for (size_t i = 0; i < run->n_askers; i++)
			look_again(run, run->askers[i]);
		run->n_askers = 0;
	}
	return true;
}

static bool look_rounds(struct derive_run *run, struct derive_thread *threads)
{
	for (int round = 0; round < DERIVE_MAX_ROUNDS; round++) {
		if (!derive_groups_make(
			&run->groups, &run->gaps, &run->starts, &run->links) ||
		    !derive_groups_list(&run->groups, false))
			return false;
		run->settled = !run->groups.n_groups;
		if (run->settled)
			break;
		if (!look_round(run, threads, false) || !learn(run, round))
			return false;
	}
	return true;
}

/* Takes the rows of all groups, and what was reached. */
static bool run_emit(struct derive_run *run, struct derive_thread *threads)
{
	struct derived *all = run->rows;

	all->n = run->seen.n = 0;
	if (!derive_groups_list(&run->groups, true) || !look_round(run, threads, true))
		return false;
	for (size_t i = 0; i < run->n_workers; i++) {
		struct derived *rows = &run->workers[i].rows;
		struct derived *seen = &run->workers[i].seen;

		if (!TAKE(all->list, all->n, all->cap, rows->list, rows->n) ||
		    !TAKE(
			run->seen.list, run->seen.n, run->seen.cap, seen->list, seen->n))
			return false;
	}
	if (!run->settled)
		all->n = 0;
	derived_sort(all);
	return true;
}

/* Functions that the file does not name are found behind those that it does. */
static bool run_all(struct derive_run *run, struct derive_thread *threads)
{
	const struct derive_starts *known = run->trial ? run->trial->known : NULL;

	for (size_t i = 0; known && i < known->n; i++)
		if (!derive_starts_add(&run->starts, known->list[i].addr, DERIVE_SURE))
			return false;
	derive_starts_sort(&run->starts);
	if (!validate_refs_add_relative(&run->refs, run->image))
		return false;
	validate_refs_sort(&run->refs);
	for (int pass = 0; pass < DERIVE_MAX_PASSES; pass++) {
		bool any = false;

		if (!look_rounds(run, threads) || !run_emit(run, threads) ||
		    !derive_orphans_add(run->input->arch->code, &run->gaps, &run->seen,
			&run->dropped, &run->starts, &any))
			return false;
		if (!any)
			break;
	}
	return true;
}

static bool start_workers(
    struct derive_run *run, struct derive_thread *threads, unsigned int jobs)
{
	for (; run->n_workers < jobs; run->n_workers++) {
		struct derive_worker *worker = &run->workers[run->n_workers];

		*worker = (struct derive_worker){.image = run->image,
		    .input = run->input,
		    .gaps = &run->gaps,
		    .callees = &run->callees,
		    .trial = run->trial,
		    .groups = &run->groups};
		threads[run->n_workers] = (struct derive_thread){run, worker};
		if (!derive_worker_init(worker)) {
			run->n_workers++;
			return false;
		}
	}
	return true;
}

static void run_deinit(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_workers; i++)
		derive_worker_deinit(&run->workers[i]);
	free(run->workers);
	validate_callees_deinit(&run->callees);
	derive_gaps_deinit(&run->gaps);
	derive_starts_deinit(&run->starts);
	derive_starts_deinit(&run->dropped);
	free(run->links.list);
	derive_groups_deinit(&run->groups);
	free(run->calls);
	validate_refs_deinit(&run->refs);
	free(run->askers);
	free(run->fp_needed);
	derived_deinit(&run->seen);
}

bool derive_code(const struct image *image, const struct cfi_input *input,
    unsigned int jobs, const struct derive_trial *trial, struct derived *rows,
    struct err *err)
{
	struct derive_run run = {.image = image,
	    .input = input,
	    .rows = rows,
	    .trial = trial,
	    .workers = calloc(jobs, sizeof(*run.workers))};
	struct derive_thread *threads = calloc(jobs, sizeof(*threads));
	bool ok = run.workers && threads && derive_gaps_read(image, input, &run.gaps);

	if (ok && run.gaps.n)
		ok = validate_callees_read(image, input, &run.callees) &&
		     derive_starts_read(
			 image, input, &run.gaps, jobs, &run.starts, &run.refs) &&
		     /* No call gave the program's own entry a return address. */
		     derive_starts_add(&run.dropped, image->ehdr.e_entry, DERIVE_WEAK) &&
		     start_workers(&run, threads, jobs) && run_all(&run, threads);
	run_deinit(&run);
	free(threads);
	return ok || err_set_nomem(err);
}

bool derive_rows(const struct image *image, struct cfi_input *input,
    const struct options *options, struct err *err)
{
	if (!options_derives(options))
		return true;
	if (!cfi_input_can_derive(image, err))
		return false;
	if (!code_can_decode(input->arch->code))
		return err_set(err, ERR_UNSUPPORTED,
		    "this build cannot decode %s code; build it with Zydis",
		    input->arch->name);
	return derive_code(image, input, options->jobs, NULL, &input->derived, err) &&
	       (derive_exclude(&input->policy, &input->derived) || err_set_nomem(err));
}
