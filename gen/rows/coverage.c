/* SPDX-License-Identifier: MIT */
/* The account of a conversion. */
#include "gen/rows/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/percent.h"
#include "base/vec.h"

struct coverage_share coverage_share(const struct coverage *coverage, enum coverage_of of)
{
	const bool text = of == COVERAGE_OF_TEXT;

	return (struct coverage_share){
	    (text ? coverage->text_bytes : coverage->code_bytes) -
		coverage->outermost_bytes,
	    coverage->covered_bytes +
		(text ? coverage->template_bytes + coverage->derived_bytes : 0)};
}

double coverage_percent(const struct coverage *coverage, enum coverage_of of)
{
	const struct coverage_share share = coverage_share(coverage, of);

	return percent_of(share.covered, share.code);
}

bool coverage_add_gap(struct coverage *coverage, const struct coverage_gap *gap)
{
	struct coverage_gap *last =
	    coverage->n_gaps ? &coverage->gaps[coverage->n_gaps - 1] : NULL;

	if (last && last->why == gap->why && last->end == gap->start &&
	    last->fde_pc == gap->fde_pc) {
		last->end = gap->end;
		return true;
	}
	if (!vec_reserve(&coverage->gaps, &coverage->cap_gaps, coverage->n_gaps + 1))
		return false;
	coverage->gaps[coverage->n_gaps++] = *gap;
	return true;
}

static bool more_same(const struct reduce_more *a, const struct reduce_more *b)
{
	return a->cfa_add == b->cfa_add && a->indexed == b->indexed &&
	       a->index == b->index && a->shift == b->shift;
}

bool coverage_add_rule(struct coverage *coverage, const struct coverage_rule *rule)
{
	struct coverage_rule *last =
	    coverage->n_rules ? &coverage->rules[coverage->n_rules - 1] : NULL;

	if (last && last->end == rule->start && sf_row_same(&last->row, &rule->row) &&
	    more_same(&last->more, &rule->more) &&
	    last->signal_frame == rule->signal_frame && last->pauth_b == rule->pauth_b) {
		last->end = rule->end;
		return true;
	}
	if (!vec_reserve(&coverage->rules, &coverage->cap_rules, coverage->n_rules + 1))
		return false;
	coverage->rules[coverage->n_rules++] = *rule;
	return true;
}

bool coverage_add(struct coverage *coverage, const struct coverage *part)
{
	coverage->n_fdes += part->n_fdes;
	coverage->n_functions += part->n_functions;
	coverage->n_refused += part->n_refused;
	coverage->n_rows += part->n_rows;
	for (int i = 0; i < N_REFUSALS; i++) {
		coverage->refused[i].functions += part->refused[i].functions;
		coverage->refused[i].bytes += part->refused[i].bytes;
	}
	for (size_t i = 0; i < part->n_notes && coverage->n_notes < COVERAGE_MAX_NOTES;
	     i++)
		memcpy(coverage->notes[coverage->n_notes++], part->notes[i],
		    sizeof(part->notes[i]));
	for (size_t i = 0; i < part->n_gaps; i++)
		if (!coverage_add_gap(coverage, &part->gaps[i]))
			return false;
	for (size_t i = 0; i < part->n_rules; i++)
		if (!coverage_add_rule(coverage, &part->rules[i]))
			return false;
	return true;
}

void coverage_deinit(struct coverage *coverage)
{
	free(coverage->gaps);
	free(coverage->rules);
	free(coverage->stretches);
	free(coverage->pieces);
	free(coverage->source_ranges);
	free(coverage->beyond);
	free(coverage->calls);
	*coverage = (struct coverage){0};
}
