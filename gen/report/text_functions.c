/* SPDX-License-Identifier: MIT */
/* The functions that a walk cannot pass: those with gaps, and those without CFI. And those with rows that no CFI gives. */
#include "gen/report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "gen/elf/object/object.h"
#include "gen/rows/refusal.h"

/* Prints the name of the function, and the end of the line. */
static void functions_name(const struct report *report, uint64_t pc, FILE *out)
{
	char *name = symbols_readable(report_symbols(report), pc);

	if (name)
		plain_print(name, out);
	else
		fputs("(no name)", out);
	fputc('\n', out);
	free(name);
}

static void functions_line(
    const struct report *report, uint64_t start, uint64_t size, FILE *out)
{
	char where[OBJECT_WHERE];

	fprintf(out, "  %-18s %8" PRIu64 " byte%-1s ",
	    object_where(report->input->policy.image, start, where), size, num_s(size));
	functions_name(report, start, out);
}

static const char *functions_rule(const struct report *report, size_t gap)
{
	return report->details.gaps ? report->details.gaps[gap].rule : NULL;
}

/* True if two gaps have the same reason and rule. */
static bool functions_alike(const struct report *report, size_t a, size_t b)
{
	const char *x = functions_rule(report, a), *y = functions_rule(report, b);

	return report->coverage.gaps[a].why == report->coverage.gaps[b].why &&
	       (x && y ? !strcmp(x, y) : x == y);
}

enum { FUNCTIONS_GAPS = 1024 }; /* compared at once; real functions have fewer */

/* Prints each reason and rule of the gaps from first on, before end, once. */
static void functions_reasons(
    const struct report *report, size_t first, size_t end, FILE *out)
{
	const struct coverage_gap *gaps = report->coverage.gaps;

	for (size_t i = first; i < end; i++) {
		const uint8_t needs = refusal_needs(gaps[i].why, report->input->arch);
		const char *rule = functions_rule(report, i);
		uint64_t size = 0;
		size_t before = first;

		while (before < i && !functions_alike(report, before, i))
			before++;
		if (before < i)
			continue;
		for (size_t k = i; k < end; k++)
			if (functions_alike(report, i, k))
				size += gaps[k].end - gaps[k].start;
		fprintf(out, "%30" PRIu64 " %s, ", size, refusal_name(gaps[i].why));
		if (needs)
			fprintf(out, "needs v%u", needs);
		else
			fputs("no version says it", out);
		if (rule)
			fprintf(out, ": %s", rule);
		fputc('\n', out);
	}
}

static void functions_gaps(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;
	size_t end;

	for (size_t i = 0; i < coverage->n_gaps; i = end) {
		uint64_t size = 0;

		for (end = i; end < coverage->n_gaps &&
			      coverage->gaps[end].fde_pc == coverage->gaps[i].fde_pc;
		     end++)
			size += coverage->gaps[end].end - coverage->gaps[end].start;
		functions_line(report, coverage->gaps[i].fde_pc, size, out);
		for (size_t k = i; k < end; k += FUNCTIONS_GAPS)
			functions_reasons(report, k,
			    end - k < FUNCTIONS_GAPS ? end : k + FUNCTIONS_GAPS, out);
	}
}

static void functions_beyond(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;

	if (!coverage->n_beyond)
		return;
	fprintf(out, "%s: %zu range%s with rows that no CFI gives\n", report->shown,
	    coverage->n_beyond, num_s(coverage->n_beyond));
	for (size_t i = 0; i < coverage->n_beyond; i++) {
		const struct coverage_beyond *one = &coverage->beyond[i];
		char where[OBJECT_WHERE];

		fprintf(out, "  %-18s %8" PRIu64 " byte%-1s %s ",
		    object_where(report->input->policy.image, one->start, where),
		    one->end - one->start, num_s(one->end - one->start),
		    report_beyond_name(one->kind));
		functions_name(report, one->function, out);
	}
}

void report_functions(const struct report *report, FILE *out)
{
	const struct coverage *coverage = &report->coverage;
	const struct report_details *details = &report->details;
	size_t n = 0;

	for (size_t i = 0; i < details->n_stretches; i++)
		n += details->stretches[i].kind != REPORT_DATA;
	fprintf(out, "%s: %zu function%s with gaps\n", report->shown, coverage->n_refused,
	    num_s(coverage->n_refused));
	functions_gaps(report, out);
	fprintf(out, "%s: %zu piece%s of code without CFI\n", report->shown, n, num_s(n));
	for (size_t i = 0; i < details->n_stretches; i++)
		if (details->stretches[i].kind != REPORT_DATA)
			functions_line(report, details->stretches[i].start,
			    details->stretches[i].size, out);
	functions_beyond(report, out);
}
