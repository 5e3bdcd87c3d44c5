/* SPDX-License-Identifier: MIT */
/* Runs interpreter and reducer over every claim and keeps the account. */
#include "gen/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "cfi/interp.h"
#include "gen/plt.h"
#include "gen/reduce.h"

/*
 * An instruction gives at most one row, so rows are fewer than bytes of .eh_frame, but
 * for rules over the PC: a few bytes of them can stand for any number of rows. Real PLTs
 * need some 20,000.
 */
#define COLLECT_MAX_PERIODIC_ROWS 4194304u

/* While one FDE is worked on. */
struct collect_run {
	struct coverage *coverage;
	const struct cfi_fde *fde;
	uint32_t reasons; /* bit per refusal met in this FDE, so that functions count once
			   */
};

_Static_assert(N_REFUSALS <= 32, "collect_run.reasons has a bit per refusal");

static bool collect_refused(void *context, enum refusal why, uint64_t start, uint64_t end)
{
	struct collect_run *run = context;
	struct coverage *coverage = run->coverage;
	struct coverage_gap *last;

	run->reasons |= UINT32_C(1) << why;
	coverage->refused[why].bytes += end - start;
	last = coverage->n_gaps ? &coverage->gaps[coverage->n_gaps - 1] : NULL;
	if (last && last->why == why && last->end == start &&
		last->fde_pc == run->fde->pc) {
		last->end = end;
		return true;
	}
	if (!vec_reserve(&coverage->gaps, &coverage->cap_gaps, coverage->n_gaps + 1))
		return false;
	coverage->gaps[coverage->n_gaps++] =
		(struct coverage_gap){start, end, run->fde->pc, why};
	return true;
}

static enum refusal collect_broken(struct coverage *coverage, const struct err *program)
{
	if (coverage->n_notes < COVERAGE_MAX_NOTES)
		snprintf(coverage->notes[coverage->n_notes++], sizeof(coverage->notes[0]),
			"%.*s", (int)sizeof(coverage->notes[0]) - 1, program->text);
	return REFUSE_BROKEN_PROGRAM;
}

/* One FDE is done: settle what counts per function. */
static void collect_count(struct collect_run *run, bool emitted)
{
	struct coverage *coverage = run->coverage;

	coverage->n_fdes++;
	coverage->n_functions += emitted;
	coverage->n_refused += run->reasons != 0;
	for (int i = 0; i < N_REFUSALS; i++)
		coverage->refused[i].functions += run->reasons >> i & 1;
	run->reasons = 0;
}

/* The claims [first, last) all belong to one FDE. */
static bool collect_fde(struct cfi_interp *interp, const struct claim *first,
	const struct claim *last, const struct policy *policy, struct sf_section *section,
	struct collect_run *run)
{
	const struct reduce_sink sink = {collect_refused, run};
	const struct cfi_fde *fde = run->fde;
	const struct cfi_cie *cie = &interp->frames->cies[fde->cie];
	const struct target target =
		target_for(policy->arch, policy->options->format, cie);
	enum refusal why = policy_fde(policy, cie, fde);
	bool ok = true;

	if (why == REFUSE_NOTHING) {
		struct err program = {0};

		if (cfi_interpret(interp, fde, &program))
			run->coverage->n_rows += interp->table.n_rows;
		else if (program.kind == ERR_NOMEM)
			return false;
		else
			why = collect_broken(run->coverage, &program);
	}
	for (const struct claim *claim = first; ok && claim < last; claim++) {
		if (claim->contested)
			ok = collect_refused(
				run, REFUSE_OVERLAP, claim->start, claim->end);
		else if (why != REFUSE_NOTHING)
			ok = collect_refused(run, why, claim->start, claim->end);
		else if (interp->table.pc_dependent)
			ok = plt_reduce(&target, &interp->table, claim->start, claim->end,
				&sink, section);
		else
			ok = reduce_table(&target, &interp->table, claim->start,
				claim->end, &sink, section);
	}
	return ok;
}

bool collect_cfi(const struct cfi_frames *frames, const struct claims *claims,
	const struct policy *policy, struct sf_section *section,
	struct coverage *coverage, struct err *err)
{
	struct collect_run run = {.coverage = coverage};
	size_t max_rows = frames->section.size + COLLECT_MAX_PERIODIC_ROWS;
	struct cfi_interp interp;
	bool ok = true;

	coverage->code_bytes = claims->code_bytes;
	coverage->n_duplicates = claims->n_duplicates;
	cfi_interp_init(&interp, frames, &policy->arch->cfi);
	for (size_t i = 0; ok && i < claims->n && section->n_rows <= max_rows;) {
		size_t end = i + 1, before = section->n_funcs;

		while (end < claims->n && claims->list[end].fde == claims->list[i].fde)
			end++;
		run.fde = &frames->fdes[claims->list[i].fde];
		ok = collect_fde(&interp, &claims->list[i], &claims->list[end], policy,
			section, &run);
		collect_count(&run, section->n_funcs > before);
		i = end;
	}
	cfi_interp_deinit(&interp);
	if (!ok)
		return err_set_nomem(err);
	if (section->n_rows > max_rows)
		return err_set(err, ERR_LIMIT,
			"rules over the PC give more than %u rows in %zu bytes of "
			".eh_frame",
			COLLECT_MAX_PERIODIC_ROWS, frames->section.size);
	for (size_t i = 0; i < section->n_funcs; i++)
		coverage->covered_bytes += section->funcs[i].size;
	return true;
}

static int collect_compare(const void *a, const void *b)
{
	const struct sf_func *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

bool collect_finish(struct sf_section *section, struct err *err)
{
	bool sorted = true;

	for (size_t i = 1; i < section->n_funcs; i++)
		sorted &= section->funcs[i - 1].start <= section->funcs[i].start;
	if (!sorted)
		qsort(section->funcs, section->n_funcs, sizeof(*section->funcs),
			collect_compare);
	for (size_t i = 1; i < section->n_funcs; i++) {
		const struct sf_func *last = &section->funcs[i - 1];

		if (section->funcs[i].start - last->start < last->size)
			return err_set(err, ERR_INTERNAL,
				"functions at 0x%" PRIx64 " and 0x%" PRIx64 " overlap",
				last->start, section->funcs[i].start);
	}
	return true;
}
