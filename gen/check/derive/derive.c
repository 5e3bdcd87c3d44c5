/* SPDX-License-Identifier: MIT */
/*
 * Rounds. Knowledge of a function's callees decides what is known behind its calls, and its own effect
 * is known to its callers in the next round. Once nothing changes any more, the entries that are proven
 * are followed a last time, and then what they call, for the rows.
 */
#include "gen/check/derive/derive.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/task.h"
#include "base/vec.h"
#include "gen/check/derive/exclude.h"
#include "gen/check/derive/merge.h"
#include "gen/check/derive/walk.h"

/* Limit of rounds; gdb needs 19. What is not settled by then is taken for not known, and what depends on it, too. If even
 * that takes too long, nothing gets rows. */
enum { DERIVE_MAX_ROUNDS = 256, DERIVE_ALL_ROUNDS = 4096 };
/* Changes of a summary after which an entry may only lose knowledge, and after which it loses all. */
enum { DERIVE_MAX_CHANGES = 8, DERIVE_MOST_CHANGES = 64 };
struct derive_run {
	const struct image *image;
	const struct cfi_input *input;
	struct validate_callees callees;
	struct derive_gaps gaps;
	struct derive_entries entries;
	struct derive_uses uses, asked;
	size_t *list; /* indices of the entries of this round */
	size_t n_list, cap_list;
	struct derive_merge merge;
	struct derive_walker *walkers;
	size_t n_walkers;
};

static bool run_entry(void *context, void *walker, size_t i)
{
	struct derive_run *run = context;

	return derive_walk(walker, &run->entries.list[run->list[i]]);
}

/* Follows the entries of the list. */
static bool run_list(struct derive_run *run, bool emit)
{
	bool ok;

	for (size_t i = 0; i < run->n_walkers; i++)
		run->walkers[i].emit = emit;
	ok = task_share(run_entry, run, run->walkers, sizeof(*run->walkers),
	    run->n_walkers, run->n_list);
	for (size_t i = 0; i < run->n_walkers; i++)
		ok &= !run->walkers[i].nomem;
	return ok;
}

/* Lists the entries that are open, and closes them. */
static bool list_open(struct derive_run *run)
{
	run->n_list = 0;
	if (!vec_reserve(&run->list, &run->cap_list, run->entries.n))
		return false;
	for (size_t i = 0; i < run->entries.n; i++) {
		if (run->entries.list[i].open)
			run->list[run->n_list++] = i;
		run->entries.list[i].open = false;
	}
	return true;
}

/* ---- what a round found ---- */

/* Moves all of from to to. */
static bool uses_take(struct derive_uses *to, struct derive_uses *from)
{
	if (!vec_reserve(&to->list, &to->cap, to->n + from->n))
		return false;
	if (from->n)
		memcpy(&to->list[to->n], from->list, from->n * sizeof(*from->list));
	to->n += from->n;
	from->n = 0;
	return true;
}

static void uses_sort(struct derive_uses *uses)
{
	size_t n = 0;

	if (uses->n)
		qsort(uses->list, uses->n, sizeof(*uses->list), search_order_pairs);
	for (size_t i = 0; i < uses->n; i++)
		if (!n || search_order_pairs(&uses->list[n - 1], &uses->list[i]))
			uses->list[n++] = uses->list[i];
	uses->n = n;
}

static bool take_uses(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_walkers; i++)
		if (!uses_take(&run->uses, &run->walkers[i].uses) ||
		    !uses_take(&run->asked, &run->walkers[i].asks))
			return false;
	uses_sort(&run->uses);
	uses_sort(&run->asked);
	return true;
}

/* Opens the entries that depend on addr. */
static void open_users(struct derive_run *run, uint64_t addr)
{
	const struct derive_uses *uses = &run->uses;

	for (size_t i = search_list_from(uses->list, uses->n, of, addr);
	     i < uses->n && uses->list[i].of == addr; i++) {
		struct derive_entry *entry =
		    derive_entry_at(&run->entries, uses->list[i].by);

		if (entry)
			entry->open = true;
	}
}

static bool same_summary(const struct derive_summary *a, const struct derive_summary *b)
{
	return a->proven == b->proven && callee_same(&a->effect, &b->effect);
}

/*
 * Settles functions that call each other and would alternate for ever between returning
 * and not known. They become not known, unless one of them is found to return with SP
 * elsewhere; registers that all of them kept are kept.
 */
static void settle(struct derive_entry *entry)
{
	const struct callee_effect *before = &entry->summary.effect;
	struct callee_effect *next = &entry->next.effect;

	if (entry->changes <= DERIVE_MAX_CHANGES)
		return;
	entry->next.proven = false;
	if (entry->changes > DERIVE_MOST_CHANGES || next->how >= CALLEE_POPS ||
	    before->how >= CALLEE_POPS) {
		*next = (struct callee_effect){.how = CALLEE_ODD, .through = UINT32_MAX};
		return;
	}
	next->how = CALLEE_MAY;
	next->surely = false;
	next->pops = 0;
	next->kept &= before->kept;
	next->through |= before->through;
	if (next->written < before->written)
		next->written = before->written;
}

/* Opens all entries again that depend on an entry of the list whose summary changed. late: none is known. */
static void publish(struct derive_run *run, bool late)
{
	for (size_t i = 0; i < run->n_list; i++) {
		struct derive_entry *entry = &run->entries.list[run->list[i]];

		if (late)
			entry->changes = DERIVE_MOST_CHANGES + 1;
		settle(entry);
		if (same_summary(&entry->summary, &entry->next))
			continue;
		entry->summary = entry->next;
		entry->changes++;
		open_users(run, entry->addr);
	}
}

/* Opens the entries around a new one, because it divides the code: jumps to a function no
 * longer go on in it. */
static void open_around(struct derive_run *run, const struct derive_entry *found)
{
	const struct derive_entries *entries = &run->entries;
	const struct derive_entry *known = derive_entry_at(entries, found->addr);
	const struct derive_gap *gap = derive_gap_at(&run->gaps, found->addr);
	size_t i = search_list_from(entries->list, entries->n, addr, found->addr);

	if (!known ||
	    (!derive_entry_is_function(known) && derive_entry_is_function(found)))
		open_users(run, found->addr);
	if (!known && gap)
		open_users(run, i && entries->list[i - 1].addr > gap->start
				    ? entries->list[i - 1].addr
				    : gap->start);
}

static bool take_found(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_walkers; i++) {
		struct derive_entries *found = &run->walkers[i].found;

		derive_entries_sort(found);
		for (size_t j = 0; j < found->n; j++)
			open_around(run, &found->list[j]);
	}
	for (size_t i = 0; i < run->n_walkers; i++) {
		struct derive_entries *found = &run->walkers[i].found;

		for (size_t j = 0; j < found->n; j++)
			if (!derive_entries_add(&run->entries, found->list[j].addr,
				found->list[j].origin, NULL))
				return false;
		found->n = 0;
	}
	derive_entries_sort(&run->entries);
	return true;
}

static bool run_rounds(struct derive_run *run)
{
	for (int round = 0; round < DERIVE_ALL_ROUNDS; round++) {
		const bool late = round >= DERIVE_MAX_ROUNDS;

		if (!list_open(run))
			return false;
		if (!run->n_list)
			return true;
		if (!late && (!run_list(run, false) || !take_uses(run)))
			return false;
		publish(run, late);
		if (!late && !take_found(run))
			return false;
	}
	run->entries.n = 0;
	return true;
}

/* ---- rows ---- */

/* True if control comes to the entry for sure, or its own ways prove it. */
static bool is_root(const struct derive_entry *entry)
{
	return entry->origin & (DERIVE_SURE | DERIVE_START | DERIVE_FRAGMENT) ||
	       (entry->origin & DERIVE_NAMED && entry->summary.proven);
}

static void reach(struct derive_run *run, const struct derive_entry *found)
{
	struct derive_entry *entry = derive_entry_at(&run->entries, found->addr);

	if (!entry || entry->reached || entry->origin & DERIVE_DESCRIBED ||
	    (found->origin == DERIVE_NAMED && !entry->summary.proven))
		return;
	entry->open = entry->reached = true;
}

/* Takes the rows of proven entries, and reaches those that proven code calls. */
static bool take_rows(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_walkers; i++) {
		struct derive_walker *walker = &run->walkers[i];

		for (size_t j = 0; j < walker->found.n; j++)
			reach(run, &walker->found.list[j]);
		walker->found.n = 0;
		if (!derive_merge_take(&run->merge, walker))
			return false;
	}
	return true;
}

static bool run_emit(struct derive_run *run)
{
	if (!derive_merge_init(&run->merge, &run->gaps))
		return false;
	for (size_t i = 0; i < run->entries.n; i++)
		if (is_root(&run->entries.list[i]))
			reach(run,
			    &(struct derive_entry){.addr = run->entries.list[i].addr});
	do {
		if (!list_open(run) || !run_list(run, true) || !take_rows(run))
			return false;
	} while (run->n_list);
	/* Entries that are not proven may be reached as well, so they have to agree. */
	for (size_t i = 0; i < run->entries.n; i++)
		run->entries.list[i].open =
		    !run->entries.list[i].reached &&
		    !(run->entries.list[i].origin & DERIVE_DESCRIBED);
	return list_open(run) && run_list(run, true) && take_rows(run);
}

/* ---- the whole ---- */

static bool start_walkers(struct derive_run *run, unsigned int jobs)
{
	for (; run->n_walkers < jobs; run->n_walkers++) {
		struct derive_walker *walker = &run->walkers[run->n_walkers];

		*walker = (struct derive_walker){.image = run->image,
		    .input = run->input,
		    .gaps = &run->gaps,
		    .callees = &run->callees,
		    .entries = &run->entries,
		    .asked = &run->asked};
		if (!derive_walker_init(walker)) {
			run->n_walkers++;
			return false;
		}
	}
	return true;
}

static void run_deinit(struct derive_run *run)
{
	for (size_t i = 0; i < run->n_walkers; i++)
		derive_walker_deinit(&run->walkers[i]);
	free(run->walkers);
	validate_callees_deinit(&run->callees);
	derive_gaps_deinit(&run->gaps);
	derive_entries_deinit(&run->entries);
	derive_merge_deinit(&run->merge);
	free(run->uses.list);
	free(run->asked.list);
	free(run->list);
}

static bool derive_code(const struct image *image, const struct cfi_input *input,
    unsigned int jobs, struct derived *rows)
{
	struct derive_run run = {.image = image,
	    .input = input,
	    .walkers = calloc(jobs, sizeof(*run.walkers))};
	bool ok = run.walkers && derive_gaps_read(image, input, &run.gaps);

	if (ok && run.gaps.n)
		ok = validate_callees_read(image, input, &run.callees) &&
		     derive_entries_read(image, input, &run.gaps, jobs, &run.entries) &&
		     start_walkers(&run, jobs) && run_rounds(&run) && run_emit(&run) &&
		     derive_merge_lost(&run.merge, &run.entries, input->arch->code) &&
		     derive_merge_rows(&run.merge, rows);
	run_deinit(&run);
	return ok;
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
	if (!image_own_code(image, err))
		return false;
	return (derive_code(image, input, options->jobs, &input->derived) &&
		   derive_exclude(&input->policy, &input->derived)) ||
	       err_set_nomem(err);
}
