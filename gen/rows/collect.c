/* SPDX-License-Identifier: MIT */
/* Runs interpreter and reducer over every range and keeps the account. */
#include "gen/rows/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/search.h"
#include "base/task.h"
#include "cfi/interp.h"
#include "cfi/program_cache.h"
#include "gen/rows/plt.h"
#include "gen/rows/reduce.h"

/*
 * An instruction gives at most one row, so rows are fewer than bytes of .eh_frame, but
 * for rules over the PC: a few bytes of them can stand for any number of rows. Real PLTs
 * need some 20,000.
 */
#define COLLECT_MAX_PERIODIC_ROWS 4194304u

/* More rows for each function of a part than real libraries have, for room is only used
 * up where it is written to. Further rows are copied. */
enum { COLLECT_TYPICAL_ROWS = 6 };

/* A function of the part, and how it came about: any FDE with the same instructions gives
 * the same rows. */
struct collect_model {
	size_t func;   /* index into the part's functions */
	size_t n_rows; /* of the CFI table; 0: not known, or not for other FDEs */
	uint64_t reach;
};

/* Some of the ranges, to be worked through by one thread. */
struct collect_part {
	const struct cfi_frames *frames;
	const struct cfi_ranges *ranges;
	const struct policy *policy;
	size_t first, last; /* ranges [first, last); FDEs are not divided */
	size_t max_rows;
	struct cfi_interp interp;
	struct cfi_table corrected; /* what the code corrected of the interpreter's */
	struct cfi_program_cache programs; /* programs met */
	struct collect_model *models;	   /* by program; at first zeros */
	struct sf_section section;	   /* the result, and its account */
	struct coverage coverage;
	bool nomem;
	/* While one FDE is worked on: */
	const struct cfi_fde *fde;
	struct target target;
	bool periodic;	  /* rows for every PC: their number has no bound */
	uint32_t reasons; /* bit per refusal met in it, so that functions count once */
};

_Static_assert(N_REFUSALS <= 32, "collect_part.reasons has a bit per refusal");

/* Notes the rule of a gap, for walkers that can follow it. */
static bool collect_rule(
    struct collect_part *part, const struct cfi_row *row, uint64_t start, uint64_t end)
{
	struct coverage_rule rule = {.start = start,
	    .end = end,
	    .signal_frame = part->target.signal_frame,
	    .pauth_b = part->target.pauth_b};

	return part->periodic ||
	       !reduce_rule(&part->target, row, &rule.row, &rule.more) ||
	       coverage_add_rule(&part->coverage, &rule);
}

static bool collect_refused(void *context, enum refusal why, uint64_t start, uint64_t end,
    const struct cfi_row *row)
{
	struct collect_part *part = context;
	const struct coverage_gap gap = {start, end, part->fde->pc, why};

	part->reasons |= UINT32_C(1) << why;
	part->coverage.refused[why].bytes += end - start;
	return coverage_add_gap(&part->coverage, &gap) &&
	       (!row || collect_rule(part, row, start, end));
}

static enum refusal collect_broken(struct coverage *coverage, const struct err *program)
{
	if (coverage->n_notes < COVERAGE_MAX_NOTES)
		snprintf(coverage->notes[coverage->n_notes++], sizeof(coverage->notes[0]),
		    "%.*s", (int)sizeof(coverage->notes[0]) - 1, program->text);
	return REFUSE_BROKEN_PROGRAM;
}

/* One FDE is done: settle what counts per function. */
static void collect_count(struct collect_part *part, bool emitted)
{
	struct coverage *coverage = &part->coverage;

	coverage->n_fdes++;
	coverage->n_functions += emitted;
	if (!part->reasons)
		return;
	coverage->n_refused++;
	for (int i = 0; i < N_REFUSALS; i++)
		coverage->refused[i].functions += part->reasons >> i & 1;
	part->reasons = 0;
}

/* Interprets the ranges [first, last), which all belong to one FDE; why says what is wrong with it. */
static bool collect_fde(struct collect_part *part, const struct cfi_range *first,
    const struct cfi_range *last, enum refusal why)
{
	const struct reduce_sink sink = {collect_refused, part};
	const struct cfi_fde *fde = part->fde;
	struct cfi_interp *interp = &part->interp;
	const struct cfi_table *table = &interp->table;
	bool ok = true;

	part->target = target_for(part->policy->arch, part->policy->options->format,
	    &part->frames->cies[fde->cie]);
	if (why == REFUSE_NOTHING) {
		struct err program; /* not zeroed, because its text is large */

		program.kind = ERR_NONE;
		interp->max_expr_ops = cfi_ranges_expr_ops(
		    part->ranges, (size_t)(first - part->ranges->list));
		if (cfi_interpret(interp, fde, &program))
			part->coverage.n_rows += part->interp.table.n_rows;
		else if (program.kind == ERR_NOMEM)
			return false;
		else
			why = collect_broken(&part->coverage, &program);
		table =
		    corrections_apply(part->policy->corrections, table, &part->corrected);
		if (!table)
			return false;
	}
	part->periodic = table->pc_dependent;
	for (const struct cfi_range *range = first; ok && range < last; range++) {
		if (range->overlapping)
			ok = collect_refused(
			    part, REFUSE_OVERLAP, range->start, range->end, NULL);
		else if (why != REFUSE_NOTHING)
			ok = collect_refused(part, why, range->start, range->end, NULL);
		else if (table->pc_dependent)
			ok = plt_reduce(&part->target, table, range->start, range->end,
			    &sink, &part->section);
		else
			ok = reduce_table(&part->target, table, range->start, range->end,
			    &sink, &part->section);
	}
	return ok;
}

/* Keeps the result of part->fde, whose range is range, if it holds for other FDEs like it. */
static void collect_keep_model(
    struct collect_part *part, const struct cfi_range *range, struct collect_model *model)
{
	const struct cfi_table *table = &part->interp.table;
	const struct sf_func *func = &part->section.funcs[part->section.n_funcs - 1];

	if (table->movable && !part->reasons && func->start == range->start &&
	    func->size == range->end - range->start)
		*model = (struct collect_model){
		    part->section.n_funcs - 1, table->n_rows, table->reach};
}

/* Handles a range that is all of part->fde and of no other FDE. */
static bool collect_whole(struct collect_part *part, const struct cfi_range *range)
{
	size_t before = part->section.n_funcs, number;
	struct collect_model *model;
	uint32_t size;

	/* Corrected rows belong to this FDE alone, whatever its instructions. */
	if (corrections_touch(part->policy->corrections, range->start, range->end))
		return collect_fde(part, range, range + 1, REFUSE_NOTHING);
	if (!cfi_program_cache_find(&part->programs, part->fde, &number))
		return false;
	model = &part->models[number];
	if (model->n_rows && model->reach < part->fde->range &&
	    num_u32(part->fde->range, &size)) {
		part->coverage.n_rows += model->n_rows;
		return sf_section_add_same(
		    &part->section, model->func, range->start, size);
	}
	if (!collect_fde(part, range, range + 1, REFUSE_NOTHING))
		return false;
	if (!model->n_rows && part->section.n_funcs == before + 1)
		collect_keep_model(part, range, model);
	return true;
}

static void collect_all(struct collect_part *part)
{
	const struct cfi_ranges *ranges = part->ranges;
	const struct cfi_frames *frames = part->frames;
	size_t n = part->first ? part->last - part->first : ranges->n, end;

	part->models = calloc(part->last - part->first + 1, sizeof(*part->models));
	part->nomem = !part->models ||
		      !sf_section_expect(&part->section, n, n * COLLECT_TYPICAL_ROWS);
	for (size_t i = part->first;
	     !part->nomem && i < part->last && part->section.n_rows <= part->max_rows;
	     i = end) {
		const struct cfi_range *range = &ranges->list[i];
		const struct cfi_fde *fde = &frames->fdes[range->fde];
		size_t before = part->section.n_funcs;
		enum refusal why = policy_fde(part->policy, &frames->cies[fde->cie], fde);

		end = i + 1;
		while (end < part->last && ranges->list[end].fde == range->fde)
			end++;
		part->fde = fde;
		if (why == REFUSE_NOTHING && end == i + 1 &&
		    cfi_range_is_whole(range, fde))
			part->nomem = !collect_whole(part, range);
		else
			part->nomem = !collect_fde(part, range, ranges->list + end, why);
		collect_count(part, part->section.n_funcs > before);
	}
}

/* Frees at once what only this part needs, because joining the results takes room. */
static void collect_run(void *context)
{
	struct collect_part *part = context;

	cfi_interp_init(&part->interp, part->frames, &part->policy->arch->cfi);
	cfi_program_cache_init(&part->programs, part->frames, part->last - part->first);
	collect_all(part);
	cfi_interp_deinit(&part->interp);
	free(part->corrected.rows);
	cfi_program_cache_deinit(&part->programs);
	free(part->models);
}

static void collect_part_deinit(struct collect_part *part)
{
	sf_section_deinit(&part->section);
	coverage_deinit(&part->coverage);
}

/* Appends the results of the other parts to those of the first, which has the room. */
static bool collect_join(struct collect_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].nomem)
			return false;
	for (size_t i = 1; i < n; i++)
		if (!sf_section_append(&parts[0].section, &parts[i].section) ||
		    !coverage_add(&parts[0].coverage, &parts[i].coverage))
			return false;
	return true;
}

/* Collects the ranges in n parts at the same time. */
static bool collect_parts(const struct collect_part *whole, size_t n,
    struct sf_section *section, struct coverage *coverage)
{
	struct collect_part *parts = calloc(n, sizeof(*parts));
	size_t first = 0;
	bool ok;

	if (!parts)
		return false;
	for (size_t i = 0; i < n; i++) {
		parts[i] = *whole;
		parts[i].section = *section;
		parts[i].first = first;
		parts[i].last = cfi_ranges_part_end(whole->ranges, i, n);
		first = parts[i].last;
	}
	task_run_all(collect_run, parts, sizeof(*parts), n);
	ok = collect_join(parts, n);
	if (ok) {
		*section = parts[0].section;
		*coverage = parts[0].coverage;
		parts[0].section = (struct sf_section){0};
		parts[0].coverage = (struct coverage){0};
	}
	for (size_t i = 0; i < n; i++)
		collect_part_deinit(&parts[i]);
	free(parts);
	return ok;
}

bool collect_cfi(const struct cfi_frames *frames, const struct cfi_ranges *ranges,
    const struct policy *policy, struct sf_section *section, struct coverage *coverage,
    struct err *err)
{
	const struct collect_part whole = {.frames = frames,
	    .ranges = ranges,
	    .policy = policy,
	    .max_rows = frames->section.size + COLLECT_MAX_PERIODIC_ROWS};
	size_t n = cfi_ranges_n_parts(ranges, policy->options->jobs);

	if (!collect_parts(&whole, n, section, coverage))
		return err_set_nomem(err);
	coverage->code_bytes = ranges->code_bytes;
	coverage->n_duplicates = ranges->n_duplicates;
	if (section->n_rows > whole.max_rows)
		return err_set(err, ERR_LIMIT,
		    "rules that depend on the PC give more than %u rows in %zu bytes of "
		    ".eh_frame",
		    COLLECT_MAX_PERIODIC_ROWS, frames->section.size);
	for (size_t i = 0; i < section->n_funcs; i++)
		coverage->covered_bytes += section->funcs[i].size;
	return true;
}

bool collect_finish(struct sf_section *section, struct err *err)
{
	bool sorted = true;

	for (size_t i = 1; i < section->n_funcs; i++)
		sorted &= section->funcs[i - 1].start <= section->funcs[i].start;
	if (!sorted)
		qsort(section->funcs, section->n_funcs, sizeof(*section->funcs),
		    search_order);
	for (size_t i = 1; i < section->n_funcs; i++) {
		const struct sf_func *last = &section->funcs[i - 1];

		if (section->funcs[i].start - last->start < last->size)
			return err_set(err, ERR_INTERNAL,
			    "functions at 0x%" PRIx64 " and 0x%" PRIx64 " overlap",
			    last->start, section->funcs[i].start);
	}
	return true;
}
