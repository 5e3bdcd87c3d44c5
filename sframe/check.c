/* SPDX-License-Identifier: MIT */
/*
 * The named checks. One pass notes the first breach of each, and stops where something
 * cannot be read.
 */
#include "sframe/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sframe/format.h"

#define BIT(check) (1u << SF_CHECK_##check)

static const struct sf_words checks[] = {
#define CHECK_WORDS(id) [SF_CHECK_##id] = {SF_WORDS_##id}
    SF_CHECKS(CHECK_WORDS)
#undef CHECK_WORDS
};

struct range {
	uint64_t first, last; /* addresses, both inside */
	uint64_t field_off;   /* of the FDE, from the section's start */
};

struct survey {
	const struct sf_view *view;
	/* The range of every function that has a size, as stored; owned. NULL where they
	 * are sorted, because then only the last one matters. */
	struct range *ranges;
	uint32_t n_ranges;
	struct range last;
	uint64_t last_start; /* of the function before, or 0 */
	uint64_t n_rows;
	unsigned int breached;	   /* BITs */
	uint64_t off[SF_N_CHECKS]; /* of the first breach, from the section's start */
	struct err damage;	   /* what the decoder said of unreadable bytes */
};

bool sf_broken(struct sf_words rule, uint64_t off, const char *damage, struct err *err)
{
	if (damage)
		return err_set(err, ERR_MALFORMED, "%s (%s): broken at %s", rule.name,
		    rule.text, damage);
	return err_set(err, ERR_MALFORMED, "%s (%s): broken at .sframe+0x%" PRIx64,
	    rule.name, rule.text, off);
}

static void survey_note(struct survey *survey, enum sf_check check, uint64_t off)
{
	if (survey->breached & 1u << check)
		return;
	survey->breached |= 1u << check;
	survey->off[check] = off;
}

static void survey_header(struct survey *survey)
{
	const struct sf_view *view = survey->view;
	const struct sf_abi *abi = sf_abi_find(view->abi);
	unsigned int defined = SFRAME_F_FDE_SORTED;

	if (view->version >= SFRAME_VERSION_2)
		defined |= SFRAME_F_FDE_FUNC_START_PCREL;
	if (view->version < SFRAME_VERSION_3)
		defined |= SFRAME_F_FRAME_POINTER;
	if (view->flags & ~defined)
		survey_note(survey, SF_CHECK_FLAGS, SFRAME_HDR_FLAGS);
	if (!abi || view->version < abi->since)
		survey_note(survey, SF_CHECK_VERSION, SFRAME_HDR_ABI_ARCH);
}

static void survey_rows(struct survey *survey, const struct sf_view_func *func)
{
	/* A row at the function's end is allowed, and holds for nothing. */
	uint64_t end = (uint64_t)func->func.size + 1;
	struct sf_row_iter iter;
	struct sf_row row;
	uint64_t off, before = 0; /* one more than the start of the row before */

	if (func->func.rep_size && func->func.rep_size < end)
		end = func->func.rep_size;
	/*
	 * In version 3 a function without rows is a signal frame without rules, or one of
	 * which the CFI said nothing. A reader of blocks still needs something to repeat.
	 */
	if (func->func.n_rows == 0 &&
	    (survey->view->version < SFRAME_VERSION_3 || func->func.pcmask))
		survey_note(survey, SF_CHECK_FUNC_ROWS, func->field_off);
	sf_rows_begin(survey->view, func, &iter);
	for (off = iter.off; sf_rows_next(&iter, &row, &survey->damage); off = iter.off) {
		if (row.start < before)
			survey_note(survey, SF_CHECK_ROW_ORDER, off);
		if (row.start >= end)
			survey_note(survey, SF_CHECK_ROW_INSIDE, off);
		before = (uint64_t)row.start + 1;
	}
	if (iter.failed)
		survey_note(survey, SF_CHECK_READABLE, iter.off);
}

/* In the order of starts, if any two functions overlap then two neighbours do. */
static void survey_range(struct survey *survey, const struct range *range)
{
	if (survey->ranges) {
		survey->ranges[survey->n_ranges++] = *range;
		return;
	}
	if (survey->n_ranges++ && range->first <= survey->last.last)
		survey_note(survey, SF_CHECK_FUNC_OVERLAP, range->field_off);
	survey->last = *range;
}

static void survey_func(struct survey *survey, const struct sf_view_func *func)
{
	const struct sf_view *view = survey->view;
	struct range range = {.first = func->func.start, .field_off = func->field_off};

	if (func->func.size) {
		/* The address behind it exists, too. */
		if (__builtin_add_overflow(range.first, func->func.size, &range.last))
			survey_note(survey, SF_CHECK_FUNC_END, func->field_off);
		range.last--;
		survey_range(survey, &range);
	}
	if ((view->flags & SFRAME_F_FDE_SORTED) && range.first < survey->last_start)
		survey_note(survey, SF_CHECK_FUNC_ORDER, func->field_off);
	survey->last_start = range.first;
	if (func->func.pcmask && func->func.rep_size == 0)
		survey_note(survey, SF_CHECK_BLOCK, func->field_off);
	survey->n_rows += func->func.n_rows;
	/* Rows have the rules of the ABI. */
	if (!(survey->breached & BIT(VERSION)))
		survey_rows(survey, func);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *ra = a, *rb = b;

	if (ra->first != rb->first)
		return ra->first < rb->first ? -1 : 1;
	return (ra->field_off > rb->field_off) - (ra->field_off < rb->field_off);
}

static void survey_overlap(struct survey *survey)
{
	uint32_t n = survey->n_ranges;

	qsort(survey->ranges, n, sizeof(*survey->ranges), compare_ranges);
	for (uint32_t i = 1; i < n; i++) {
		if (survey->ranges[i].first <= survey->ranges[i - 1].last)
			survey_note(
			    survey, SF_CHECK_FUNC_OVERLAP, survey->ranges[i].field_off);
	}
}

static void survey_section(struct survey *survey)
{
	const struct sf_view *view = survey->view;
	struct sf_view_func func;

	survey_header(survey);
	for (uint32_t i = 0; i < view->n_funcs; i++) {
		if (!sf_view_func(view, i, &func, &survey->damage)) {
			survey_note(survey, SF_CHECK_READABLE,
			    view->func_off + (uint64_t)i * view->func_size);
			return;
		}
		survey_func(survey, &func);
		if (survey->breached & BIT(READABLE))
			return;
	}
	if (survey->n_rows != view->n_rows)
		survey_note(survey, SF_CHECK_COUNT, SFRAME_HDR_NUM_FRES);
	if (survey->ranges)
		survey_overlap(survey);
}

bool sf_check_all(const struct sf_view *view, struct err *err)
{
	struct survey survey = {.view = view};
	int first;

	if (!(view->flags & SFRAME_F_FDE_SORTED)) {
		survey.ranges =
		    calloc(view->n_funcs ? view->n_funcs : 1, sizeof(*survey.ranges));
		if (!survey.ranges)
			return err_set_nomem(err);
	}
	survey_section(&survey);
	free(survey.ranges);
	if (!survey.breached)
		return true;
	first = __builtin_ctz(survey.breached);
	return sf_broken(checks[first], survey.off[first],
	    first == SF_CHECK_READABLE ? survey.damage.text : NULL, err);
}

uint64_t sf_behind(const struct sf_view *view, struct err *others)
{
	struct sf_view last = *view;
	uint64_t off = 0, behind = 0;
	struct err ignored;
	size_t n = 0;

	do {
		off += last.row_off + last.row_len;
		while (off < view->size && !view->data[off])
			off++;
		behind = n++ ? behind : off;
	} while (off < view->size && sf_view_open(view->data + off, view->size - off,
					 view->addr + off, &last, &ignored));
	if (n > 1)
		err_set(others, ERR_MALFORMED,
		    ".sframe+0x%" PRIx64 ": the second of %zu sections begins here, and "
		    "readers see the first one alone",
		    behind, n);
	return behind;
}
