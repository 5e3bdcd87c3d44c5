/* SPDX-License-Identifier: MIT */
/*
 * Rounds. At first, each FDE is looked at on its own. Where control goes from one into the middle
 * of another, both are one function (a compiler moved its unlikely part away), and the next round
 * looks at them together. So a function's state reaches all its parts, and no other file-wide state
 * is needed.
 */
#include "gen/check/validate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/task.h"
#include "base/vec.h"
#include "gen/check/unit.h"

/* Real files need 3 or 4. A verdict that another round would look at again is unknown. */
enum { VALIDATE_MAX_ROUNDS = 16 };
/* Passes over all calls then. A file whose calls need more is unknown as a whole. */
enum { VALIDATE_MAX_TURNS = 64 };
/* The ranges of the file by the function that they belong to. */
struct validate_groups {
	/* For each range the lowest range of its group, or one nearer to it. */
	uint32_t *leader;
	/* Ranges of the units of this round, one unit after the other. */
	uint32_t *ranges;
	size_t *units; /* where in ranges each begins; one more at the end */
	size_t n_units;
};

struct validate_run {
	struct validate_refs refs, calls, framed, bare;
	struct callee_effect *effects; /* of each range, by the rounds so far */
	struct validate_worker *workers;
	size_t n_workers;
	struct validate_groups groups;
};

static bool run_unit(void *context, void *worker, size_t unit)
{
	const struct validate_groups *groups = context;

	return validate_unit(worker, &groups->ranges[groups->units[unit]],
	    groups->units[unit + 1] - groups->units[unit]);
}

static uint32_t group_of(struct validate_groups *groups, uint32_t range)
{
	while (groups->leader[range] != range) {
		groups->leader[range] = groups->leader[groups->leader[range]];
		range = groups->leader[range];
	}
	return range;
}

/* True if control goes on to a function that other code calls. */
static bool is_tail_call(const struct validate_run *run, const struct validate_link *link)
{
	return link->bare && validate_refs_have(&run->calls,
				 run->workers[0].input->ranges.list[link->to].start);
}

/* Joins what the last round's links connect. Marks in changed the groups that grew. */
static bool join_groups(struct validate_run *run, uint8_t *changed)
{
	bool any = false;

	for (size_t w = 0; w < run->n_workers; w++) {
		struct validate_worker *worker = &run->workers[w];

		for (size_t i = 0; i < worker->n_links; i++) {
			uint32_t a = group_of(&run->groups, worker->links[i].from);
			uint32_t b = group_of(&run->groups, worker->links[i].to);
			uint32_t low = a < b ? a : b, high = a < b ? b : a;

			if (low == high || is_tail_call(run, &worker->links[i]))
				continue;
			run->groups.leader[high] = low;
			changed[low] = 1;
			any = true;
		}
		worker->n_links = 0;
	}
	return any;
}

/* Collects the units of the next round: groups that grew. A group that joined another grew, too. */
static bool next_units(struct validate_run *run, const uint8_t *changed, size_t n_ranges)
{
	struct validate_groups *groups = &run->groups;
	uint8_t *grew = calloc(n_ranges, 1);
	size_t *counts = calloc(n_ranges + 1, sizeof(*counts)), at = 0;

	groups->n_units = 0;
	for (uint32_t i = 0; grew && counts && i < n_ranges; i++)
		grew[group_of(groups, i)] |= changed[i];
	for (uint32_t i = 0; grew && counts && i < n_ranges; i++)
		counts[group_of(groups, i)] += grew[group_of(groups, i)];
	for (uint32_t i = 0; grew && counts && i < n_ranges; i++) {
		size_t n = counts[i];

		counts[i] = at;
		if (n)
			groups->units[groups->n_units++] = at;
		at += n;
	}
	for (uint32_t i = 0; grew && counts && i < n_ranges; i++)
		if (grew[group_of(groups, i)])
			groups->ranges[counts[group_of(groups, i)]++] = i;
	groups->units[groups->n_units] = at;
	free(grew);
	free(counts);
	return grew && counts;
}

/* Every range is a unit of its own, and so are neighbours that one FDE has been divided into. */
static bool first_units(struct validate_run *run)
{
	struct validate_groups *groups = &run->groups;
	const struct cfi_ranges *ranges = &run->workers[0].input->ranges;
	const size_t n_ranges = ranges->n;

	groups->leader = malloc((n_ranges + 1) * sizeof(*groups->leader));
	groups->ranges = malloc((n_ranges + 1) * sizeof(*groups->ranges));
	groups->units = malloc((n_ranges + 1) * sizeof(*groups->units));
	if (!groups->leader || !groups->ranges || !groups->units)
		return false;
	for (uint32_t i = 0; i < n_ranges; i++) {
		const uint32_t fde = ranges->list[i].fde;

		groups->leader[i] = groups->ranges[i] = i;
		if (run->workers[0].source && i && fde != VALIDATE_NO_FDE &&
		    fde == ranges->list[i - 1].fde)
			groups->leader[i] = groups->leader[i - 1];
		else
			groups->units[groups->n_units++] = i;
	}
	groups->units[groups->n_units] = n_ranges;
	return true;
}

static bool run_round(struct validate_run *run, uint8_t round)
{
	for (size_t i = 0; i < run->n_workers; i++)
		run->workers[i].round = round;
	return task_share(run_unit, &run->groups, run->workers, sizeof(*run->workers),
	    run->n_workers, run->groups.n_units);
}

/* True if the range is called, in the middle or, where no row says that a function begins, at its first byte. */
static bool is_called(
    const struct validate_run *run, const struct cfi_range *range, uint8_t reviews)
{
	const uint64_t from = range->start + !(reviews & VALIDATE_REVIEW_ENTRY);
	const size_t i = validate_refs_from(&run->calls, from);

	return i < run->calls.n && run->calls.list[i] < range->end;
}

/* Collects what code and data refer to and what code calls, which is known now. Functions with tables
 * that end there are checked again, and so are those that are called where that was not assumed. */
static bool gather_refs(struct validate_run *run, uint8_t *changed)
{
	const struct validate_result *result = run->workers[0].result;

	for (size_t i = 0; i < run->n_workers; i++)
		if (!validate_refs_take(&run->refs, &run->workers[i].found) ||
		    !validate_refs_take(&run->calls, &run->workers[i].called))
			return false;
	if (!validate_refs_add_relative(&run->refs, run->workers[0].image))
		return false;
	validate_refs_sort(&run->refs);
	validate_refs_sort(&run->calls);
	for (size_t i = 0; i < result->n_ranges; i++)
		changed[i] |= result->ranges[i].asked ||
			      is_called(run, &run->workers[0].input->ranges.list[i],
				  result->ranges[i].reviews);
	return true;
}

/* Functions that are jumped to with a frame are looked at again. */
static bool gather_framed(struct validate_run *run, uint8_t *changed, bool *any)
{
	bool ok = true;

	for (size_t i = 0; i < run->n_workers; i++)
		for (size_t j = 0; j < run->workers[i].framed.n; j++) {
			const uint64_t addr = run->workers[i].framed.list[j];

			const size_t range = validate_range_at(&run->workers[i], addr);

			if (validate_refs_have(&run->framed, addr))
				continue;
			changed[range] = *any = true;
			/* Functions that jump there are checked again, too. */
			run->effects[range].how = CALLEE_ODD;
		}
	for (size_t i = 0; ok && i < run->n_workers; i++)
		ok = validate_refs_take(&run->framed, &run->workers[i].framed) &&
		     validate_refs_take(&run->bare, &run->workers[i].bare);
	validate_refs_sort(&run->framed);
	validate_refs_sort(&run->bare);
	return ok;
}

/* Takes back verdicts and faults of the groups that have changed, and of all that use one of them. */
static void leave_open(struct validate_run *run, uint8_t *changed, size_t n_ranges)
{
	const struct validate_worker *workers = run->workers;
	struct validate_range *result = workers[0].result->ranges;
	bool again = true;

	for (uint32_t i = 0; i < n_ranges; i++)
		changed[group_of(&run->groups, i)] |= changed[i];
	for (int turn = 0; again && turn < VALIDATE_MAX_TURNS; turn++) {
		again = false;
		for (size_t w = 0; w < run->n_workers; w++)
			for (size_t i = 0; i < workers[w].n_uses; i++) {
				const struct validate_link *use = &workers[w].uses[i];
				uint8_t *from =
				    &changed[group_of(&run->groups, use->from)];
				const uint8_t to =
				    changed[group_of(&run->groups, use->to)];

				again |= to && !*from;
				*from |= to;
			}
	}
	for (uint32_t i = 0; i < n_ranges; i++)
		if (again || changed[group_of(&run->groups, i)]) {
			result[i].state = VALIDATE_OPEN;
			result[i].round = 0;
			result[i].first_open = workers[0].input->ranges.list[i].start;
		}
}

static bool run_rounds(struct validate_run *run, size_t n_ranges)
{
	uint8_t *changed = malloc(n_ranges + 1);
	bool ok = changed && first_units(run), again;

	for (uint8_t round = 1; ok && run->groups.n_units; round++) {
		ok = run_round(run, round);
		for (size_t i = 0; i < n_ranges; i++)
			changed[i] = 0;
		if (round == 1 && !gather_refs(run, changed))
			ok = false;
		again = false;
		ok = ok && gather_framed(run, changed, &again) &&
		     validate_publish(run->workers, run->n_workers, run->effects,
			 round > VALIDATE_MAX_ROUNDS / 2, changed, &again);
		again |= join_groups(run, changed);
		if (ok && again && round == VALIDATE_MAX_ROUNDS)
			leave_open(run, changed, n_ranges);
		if ((!again && round > 1) || round == VALIDATE_MAX_ROUNDS)
			break;
		ok = ok && next_units(run, changed, n_ranges);
	}
	free(changed);
	return ok;
}

/* Faults of earlier rounds are no more. */
static bool gather(const struct validate_run *run, struct validate_result *result)
{
	for (size_t w = 0; w < run->n_workers; w++) {
		const struct validate_worker *worker = &run->workers[w];

		if (!vec_reserve(&result->faults, &result->cap_faults,
			result->n_faults + worker->n_faults))
			return false;
		for (size_t i = 0; i < worker->n_faults; i++)
			if (worker->faults[i].round ==
			    result->ranges[worker->faults[i].range].round)
				result->faults[result->n_faults++] = worker->faults[i];
	}
	if (result->n_faults)
		qsort(result->faults, result->n_faults, sizeof(*result->faults),
		    search_order);
	for (size_t i = 0; i < result->n_ranges; i++) {
		const struct validate_range *range = &result->ranges[i];

		if (range->rowless)
			continue;
		result->n_fdes++;
		if (!range->looked_at) {
			result->n_not_looked_at++;
			continue;
		}
		result->n_of[range->state]++;
		result->instructions += range->instructions;
		result->agreeing += range->agreeing;
		result->seeded += range->seeded;
	}
	return true;
}

static bool begin_workers(
    struct validate_run *run, const struct validate_worker *like, size_t n)
{
	for (; run->n_workers < n; run->n_workers++) {
		struct validate_worker *worker = &run->workers[run->n_workers];

		if (!validate_worker_init(
			worker, like->image, like->input, like->callees, like->result)) {
			run->n_workers++;
			return false;
		}
		worker->source = like->source;
		worker->refs = &run->refs;
		worker->calls = &run->calls;
		worker->all_framed = &run->framed;
		worker->all_bare = &run->bare;
		worker->effects = run->effects;
	}
	return true;
}

/* CFI in memory has no code beside it, and a debug file has none of its program. */
static bool validate_has_code(
    const struct image *image, const struct cfi_ranges *ranges, struct err *err)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (image_at_addr(image, ranges->list[i].start, 1))
			return true;
	return !ranges->n || err_set(err, ERR_UNSUPPORTED,
				 "the file has no bytes for the code at 0x%" PRIx64
				 ", nor for any other that its CFI describes; check the "
				 "file that has them",
				 ranges->list[0].start);
}

bool validate_all(const struct image *image, const struct cfi_input *input,
    const struct validate_rows *rows, unsigned int jobs, struct validate_result *result,
    struct err *err)
{
	const size_t n = input->ranges.n;
	struct validate_run run = {0};
	struct validate_callees callees = {0};
	const struct validate_worker like = {.image = image,
	    .input = input,
	    .callees = &callees,
	    .result = result,
	    .source = rows};
	bool ok;

	*result = (struct validate_result){0};
	if (!validate_has_code(image, &input->ranges, err) || !image_own_code(image, err))
		return false;
	run.workers = calloc(jobs, sizeof(*run.workers));
	run.effects = calloc(n + 1, sizeof(*run.effects));
	*result = (struct validate_result){
	    .ranges = calloc(n + 1, sizeof(*result->ranges)), .n_ranges = n};
	ok = run.workers && run.effects && result->ranges &&
	     validate_callees_read(image, input, &callees) &&
	     begin_workers(&run, &like, jobs) && run_rounds(&run, n) &&
	     gather(&run, result);
	for (size_t i = 0; i < run.n_workers; i++)
		validate_worker_deinit(&run.workers[i]);
	free(run.workers);
	validate_refs_deinit(&run.refs);
	validate_refs_deinit(&run.calls);
	validate_refs_deinit(&run.framed);
	validate_refs_deinit(&run.bare);
	free(run.effects);
	free(run.groups.leader);
	free(run.groups.ranges);
	free(run.groups.units);
	validate_callees_deinit(&callees);
	if (!ok) {
		validate_result_deinit(result);
		return err_set_nomem(err);
	}
	return true;
}

bool validate_cfi(const struct image *image, const struct cfi_input *input,
    unsigned int jobs, struct validate_result *result, struct err *err)
{
	return validate_all(image, input, NULL, jobs, result, err);
}

bool validate_can(const struct arch *arch, struct err *err)
{
	return code_can_decode(arch->code) ||
	       err_set(err, ERR_UNSUPPORTED,
		   "this build cannot decode %s code; build it with Zydis", arch->name);
}

void validate_result_deinit(struct validate_result *result)
{
	free(result->ranges);
	free(result->faults);
	*result = (struct validate_result){0};
}

static bool corrections_add(
    struct corrections *corrections, const struct validate_fault *fault, bool repair)
{
	struct correction *correction;

	/* Instructions that jumps into each other lead to can overlap. */
	if (corrections->n && corrections->list[corrections->n - 1].end > fault->start)
		return true;
	if (!vec_reserve(&corrections->list, &corrections->cap, corrections->n + 1))
		return false;
	correction = &corrections->list[corrections->n++];
	*correction = (struct correction){.start = fault->start, .end = fault->end};
	if (repair && fault->repairable) {
		correction->row = fault->repaired;
	} else {
		correction->row = fault->row;
		correction->row.doubtful = true;
	}
	return true;
}

bool validate_correct(const struct image *image, struct cfi_input *input,
    const struct options *options, struct err *err)
{
	struct validate_result result = {0};
	bool ok;

	if (options->code == CODE_POLICY_IGNORE)
		return true;
	if (image->object)
		return err_set(err, ERR_UNSUPPORTED,
		    "--code is for linked files, because the code of an object is not "
		    "complete; convert the linked file");
	ok = validate_can(input->arch, err) &&
	     validate_cfi(image, input, options->jobs, &result, err);
	for (size_t i = 0; ok && i < result.n_faults; i++)
		ok = corrections_add(&input->corrections, &result.faults[i],
			 options->code == CODE_POLICY_REPAIR) ||
		     err_set_nomem(err);
	validate_result_deinit(&result);
	return ok;
}
