/* SPDX-License-Identifier: MIT */
/* The stepper's book-keeping, apart from the tracing so that each fits on a few screens.
 */
#include "tests/oracle/step_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { MAX_PRINTED = 40 };

/* Sums over all modules. */
struct step_sums {
	uint64_t matched, plt, plt_steps, marked, distinct, mismatched, marked_wrong;
};

static const char *const kind_names[STEP_N_KINDS] = {"cfa", "ra", "fp"};

static bool known_line(struct step_report *report, const char *line)
{
	struct step_known known = {0};
	char kind[8];

	if (line[0] == '#' || line[0] == '\n')
		return true;
	if (sscanf(line, "%127s %7s", known.function, kind) != 2)
		return false;
	while (known.kind < STEP_N_KINDS && strcmp(kind, kind_names[known.kind]) != 0)
		known.kind++;
	if (known.kind == STEP_N_KINDS ||
	    !vec_reserve(&report->known, &report->cap_known, report->n_known + 1))
		return false;
	report->known[report->n_known++] = known;
	return true;
}

bool step_report_init(struct step_report *report, const char *known_path)
{
	char line[256];
	bool ok = true;
	FILE *f;

	*report = (struct step_report){0};
	if (!known_path)
		return true;
	f = fopen(known_path, "re");
	while (f && ok && fgets(line, sizeof(line), f))
		ok = known_line(report, line);
	if (f)
		fclose(f);
	return f && ok;
}

void step_report_deinit(struct step_report *report)
{
	free(report->diffs);
	free(report->known);
}

bool step_report_step(struct step_report *report, const struct step_pc *at)
{
	report->steps++;
	if (!at->module)
		return false;
	at->module->stats.steps++;
	at->module->stats.plt_steps += at->in_plt;
	at->module->stats.rows += at->has_row;
	at->module->stats.plt_rows += at->in_plt && at->has_row;
	return at->has_row && at->module->chosen;
}

static bool is_known(const struct step_report *report, const struct step_diff *diff)
{
	for (size_t i = 0; i < report->n_known; i++)
		if (report->known[i].kind == diff->kind &&
		    !strcmp(report->known[i].function, diff->function))
			return true;
	return false;
}

/* Notes a difference; true when it is one of the known. */
static bool note(struct step_report *report, const struct step_pc *at,
    enum step_kind kind, uint64_t expected, uint64_t got)
{
	struct step_diff diff = {.module = at->module,
	    .pc = at->pc,
	    .func_start = at->func_start,
	    .expected = expected,
	    .got = got,
	    .count = 1,
	    .mark = at->mark,
	    .kind = kind};

	for (size_t i = 0; i < report->n_diffs; i++) {
		struct step_diff *d = &report->diffs[i];

		if (d->pc == diff.pc && d->module == diff.module && d->kind == kind) {
			d->count++;
			return d->is_known;
		}
	}
	step_module_symbol(
	    at->module, at->func_start, diff.function, sizeof(diff.function));
	diff.is_known = is_known(report, &diff);
	if (!vec_reserve(&report->diffs, &report->cap_diffs, report->n_diffs + 1)) {
		report->failed = true;
		return false;
	}
	report->diffs[report->n_diffs++] = diff;
	return diff.is_known;
}

void step_report_compared(struct step_report *report, const struct step_pc *at,
    const struct step_values *expected, const struct step_values *got)
{
	struct step_stats *stats = &at->module->stats;
	bool known = false, same = false;

	/* RA follows from the CFA, so the first that differs is the one to name. */
	if (got->cfa != expected->cfa)
		known = note(report, at, STEP_CFA, expected->cfa, got->cfa);
	else if (got->ra != expected->ra)
		known = note(report, at, STEP_RA, expected->ra, got->ra);
	else if (got->fp != expected->fp)
		known = note(report, at, STEP_FP, expected->fp, got->fp);
	else
		same = true;
	stats->marked[at->mark] += same;
	if (at->mark != STEP_UNMARKED && same)
		step_marks_see(&at->module->marks, at->pc - at->module->bias, at->mark);
	stats->matched += same;
	stats->known += known;
	stats->mismatched += !same && !known;
	stats->marked_wrong += !same && !known && at->mark != STEP_UNMARKED;
	stats->plt_matched += at->in_plt && same;
	stats->plt_mismatched += at->in_plt && !same && !known;
}

static void print_diff(const struct step_diff *diff)
{
	const struct step_module *module = diff->module;

	printf("DIFF %s+0x%" PRIx64 " (function 0x%" PRIx64 " %s): %s is 0x%" PRIx64
	       ", the row (%s) says 0x%" PRIx64 ", %" PRIu64 " times\n",
	    module->name, diff->pc - module->bias, diff->func_start - module->bias,
	    *diff->function ? diff->function : "?", kind_names[diff->kind],
	    diff->expected, step_mark_names[diff->mark], diff->got, diff->count);
}

/* Those of the known list as one line for each function and kind, at the first of them.
 */
static void print_known(const struct step_report *report, size_t first)
{
	const struct step_diff *diff = &report->diffs[first];
	uint64_t count = 0;

	for (size_t i = 0; i < report->n_diffs; i++) {
		const struct step_diff *d = &report->diffs[i];

		if (d->kind != diff->kind || d->module != diff->module ||
		    strcmp(d->function, diff->function) != 0)
			continue;
		if (i < first)
			return;
		count += d->count;
	}
	printf("known %s %s: %s differs %" PRIu64 " times\n", diff->module->name,
	    diff->function, kind_names[diff->kind], count);
}

static void print_diffs(const struct step_report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n_diffs; i++) {
		if (report->diffs[i].is_known)
			print_known(report, i);
		else if (n++ < MAX_PRINTED)
			print_diff(&report->diffs[i]);
	}
	if (n > MAX_PRINTED)
		printf("... and %zu more places\n", n - MAX_PRINTED);
}

static void print_module(const struct step_module *module)
{
	const struct step_stats *s = &module->stats;

	printf("%s: %" PRIu64 " steps, %" PRIu64 " with a row: %" PRIu64
	       " matched, %" PRIu64 " differ, %" PRIu64 " known, %" PRIu64
	       " without a known frame\n",
	    module->name, s->steps, s->rows, s->matched, s->mismatched, s->known,
	    s->no_frame);
	if (s->plt_steps)
		printf("%s, PLTs: %" PRIu64 " steps, %" PRIu64 " with a row: %" PRIu64
		       " matched, %" PRIu64 " differ\n",
		    module->name, s->plt_steps, s->plt_rows, s->plt_matched,
		    s->plt_mismatched);
	if (module->marks.n)
		step_shown_print(module);
}

static bool print_sums(const struct step_report *report, const struct step_sums *sums,
    const struct step_shadow *shadow, const struct step_least *least)
{
	bool enough = sums->matched >= least->matched && sums->plt >= least->plt &&
		      (!least->all_plt || sums->plt == sums->plt_steps) &&
		      sums->marked >= least->marked && sums->distinct >= least->distinct;

	printf("all: %" PRIu64 " steps, %" PRIu64 " matched (%" PRIu64
	       " in PLTs, %" PRIu64 " in marked rows at %" PRIu64 " addresses), %" PRIu64
	       " differ (%" PRIu64 " in marked rows), %" PRIu64 " resyncs\n",
	    report->steps, sums->matched, sums->plt, sums->marked, sums->distinct,
	    sums->mismatched, sums->marked_wrong, shadow->resyncs);
	if (!enough)
		printf("FAIL too few: wanted %" PRIu64 ", %" PRIu64 "%s in PLTs, %" PRIu64
		       " in marked rows at %" PRIu64 " addresses\n",
		    least->matched, least->plt, least->all_plt ? " and all" : "",
		    least->marked, least->distinct);
	return enough;
}

bool step_report_print(const struct step_report *report,
    const struct step_modules *modules, const struct step_shadow *shadow,
    const struct step_least *least)
{
	struct step_sums sums = {0};
	bool ok = !report->failed;

	print_diffs(report);
	for (size_t i = 0; i < modules->n; i++) {
		const struct step_module *module = modules->list[i];

		if (!module->chosen)
			continue;
		ok = ok && !module->failed;
		if (module->has_sframe)
			print_module(module);
		sums.matched += module->stats.matched;
		sums.mismatched += module->stats.mismatched;
		sums.marked_wrong += module->stats.marked_wrong;
		sums.plt += module->stats.plt_matched;
		sums.plt_steps += module->stats.plt_steps;
		for (size_t m = STEP_REPAIRED; m < STEP_N_MARKS; m++) {
			sums.marked += module->stats.marked[m];
			sums.distinct += module->marks.n_seen[m];
		}
	}
	return print_sums(report, &sums, shadow, least) && ok && sums.mismatched == 0;
}
