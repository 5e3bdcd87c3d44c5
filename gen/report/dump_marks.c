/* SPDX-License-Identifier: MIT */
#include "gen/report/dump_marks.h"

#include <stdlib.h>

#include "base/search.h"
#include "gen/derive/derive.h"
#include "gen/insert/undo.h"
#include "gen/rows/padding.h"
#include "gen/rows/plt.h"
#include "gen/validate/validate.h"
#include "gen/verify/meaning.h"
#include "sframe/check.h"
#include "sframe/cursor.h"

/* Whether this program put the section in. The record may lead back no more. */
static bool marks_own(const struct image *image)
{
	struct err ignored = {0};
	struct undo undo;
	bool found;

	return !undo_find(image, &undo, &found, &ignored) || found;
}

/* Reads the CFI of a set of sources; what cannot be read says nothing. False when memory runs out. */
static bool marks_read(
    struct report_marks *marks, struct report_marks_cfi *cfi, unsigned int sources)
{
	struct err why = {0};

	cfi->tried = true;
	cfi->range = SIZE_MAX;
	cfi->options = *marks->options;
	cfi->options.sources = sources;
	cfi->options.derive = false;
	cfi->options.code = CODE_POLICY_REPAIR;
	if (!cfi_input_read(marks->image, marks->image, &cfi->options, &cfi->input, &why))
		return why.kind != ERR_NOMEM;
	cfi->made = true;
	cfi_interp_init(&cfi->interp, &cfi->input.frames, &cfi->input.arch->cfi);
	return true;
}

bool report_marks_make(const struct image *image, const struct sf_view *view,
    const struct options *options, struct report_marks *marks, struct err *err)
{
	struct coverage unused = {0};

	*marks = (struct report_marks){.image = image, .view = view, .options = options};
	if (image->object || !marks_own(image))
		return true;
	/* A file may have derived rows alone. */
	if (!marks_read(
		marks, &marks->all, options->sources | SOURCE_BIT(SOURCE_DERIVED)))
		return err_set_nomem(err);
	return !marks->all.made ||
	       plt_from_templates(&marks->all.input.policy, &marks->all.input.ranges,
		   &marks->templates, &unused) ||
	       err_set_nomem(err);
}

static void marks_cfi_deinit(struct report_marks_cfi *cfi)
{
	if (!cfi->tried)
		return;
	if (cfi->made)
		cfi_interp_deinit(&cfi->interp);
	cfi_input_deinit(&cfi->input);
}

void report_marks_deinit(struct report_marks *marks)
{
	marks_cfi_deinit(&marks->all);
	for (int i = 0; i < N_SOURCES; i++)
		marks_cfi_deinit(&marks->alone[i]);
	sf_section_deinit(&marks->templates);
	free(marks->corrected.rows);
	*marks = (struct report_marks){0};
}

/* Another FDE's turn. */
static void marks_interpret(
    struct report_marks *marks, struct report_marks_cfi *cfi, size_t i)
{
	const struct cfi_frames *frames = &cfi->input.frames;
	const struct cfi_ranges *ranges = &cfi->input.ranges;
	const struct cfi_fde *fde = &frames->fdes[ranges->list[i].fde];
	struct err why = {0};

	if (cfi->range == i)
		return;
	cfi->range = i;
	cfi->interp.max_expr_ops = cfi_ranges_expr_ops(ranges, i);
	cfi->readable = cfi_interpret(&cfi->interp, fde, &why);
	marks->nomem |= !cfi->readable && why.kind == ERR_NOMEM;
	cfi->target =
	    target_for(cfi->input.arch, marks->view->version, &frames->cies[fde->cie]);
}

/* Whether a table says something else anywhere in [from, to). */
static bool marks_table_differs(const struct report_marks_cfi *cfi,
    const struct cfi_table *table, const struct sf_row *row, uint64_t from, uint64_t to)
{
	for (size_t k = cfi_table_row_at(table, from);
	     k < table->n_rows && table->rows[k].pc < to; k++)
		if (meaning_compare(&cfi->target, row, &table->rows[k]) != MEANING_SAME)
			return true;
	return false;
}

/* Whether the CFI of range i says something else anywhere in [from, to), which is inside of it. */
static bool marks_differ(struct report_marks *marks, struct report_marks_cfi *cfi,
    size_t i, const struct sf_row *row, uint64_t from, uint64_t to)
{
	const struct cfi_table *table = &cfi->interp.table;

	/* Such code never has a row of this program. */
	if (cfi->input.ranges.list[i].overlapping)
		return false;
	marks_interpret(marks, cfi, i);
	return cfi->readable && table->n_rows &&
	       marks_table_differs(cfi, table, row, from, to);
}

/* Whether CFI describes all of [from, to), and nothing of it says something else. */
static bool marks_agree(struct report_marks *marks, struct report_marks_cfi *cfi,
    const struct sf_row *row, uint64_t from, uint64_t to)
{
	const struct cfi_ranges *ranges = &cfi->input.ranges;

	for (size_t i = search_list_above(ranges->list, ranges->n, end, from); from < to;
	     i++) {
		uint64_t end;

		if (i >= ranges->n || ranges->list[i].start > from)
			return false;
		end = ranges->list[i].end < to ? ranges->list[i].end : to;
		if (marks_differ(marks, cfi, i, row, from, end))
			return false;
		from = end;
	}
	return true;
}

/* Whether one source alone says the row. A conversion can have had another order of sources. */
static bool marks_have_source(
    struct report_marks *marks, const struct sf_row *row, uint64_t from, uint64_t to)
{
	for (int i = 0; i < SOURCE_DERIVED; i++) {
		struct report_marks_cfi *cfi = &marks->alone[i];

		if (!cfi->tried && !marks_read(marks, cfi, SOURCE_BIT(i)))
			marks->nomem = true;
		if (cfi->made && marks_agree(marks, cfi, row, from, to))
			return true;
	}
	return false;
}

/* Whether the CFI that was interpreted last says the row where the code contradicts it. */
static bool marks_repaired(
    struct report_marks *marks, const struct sf_row *row, uint64_t from, uint64_t to)
{
	struct report_marks_cfi *all = &marks->all;
	const struct cfi_table *table;
	struct err why = {0};

	if (!marks->validated &&
	    !validate_correct(marks->image, &all->input, &all->options, &why))
		marks->nomem |= why.kind == ERR_NOMEM;
	marks->validated = true;
	table = corrections_apply(
	    &all->input.corrections, &all->interp.table, &marks->corrected);
	marks->nomem |= !table;
	return table && !marks_table_differs(all, table, row, from, to);
}

/* Whether [from, to), which has no CFI, is padding or a PLT that is known. */
static bool marks_known(const struct report_marks *marks, uint64_t from, uint64_t to)
{
	if (padding_only(marks->image, marks->all.input.arch, from, to))
		return true;
	while (from < to) {
		uint64_t end = to;

		if (!sf_section_row_at(&marks->templates, from, &end))
			return false;
		from = end;
	}
	return true;
}

/* Whether the instructions of [from, to), which has no CFI, prove the row. */
static bool marks_proven(
    struct report_marks *marks, const struct sf_row *row, uint64_t from, uint64_t to)
{
	const struct derived *derived = &marks->all.input.derived;
	const struct target target = {
	    .arch = marks->all.input.arch, .version = marks->view->version};
	bool any = false;

	for (size_t i = search_list_above(derived->list, derived->n, end, from);
	     from < to; i++) {
		const struct derived_row *one =
		    i < derived->n && derived->list[i].start < to ? &derived->list[i]
								  : NULL;
		const uint64_t start = one && one->start > from ? one->start
				       : one			? from
								: to;

		if (from < start && !marks_known(marks, from, start))
			return false;
		if (!one)
			return any;
		if (meaning_compare(&target, row, &one->row) != MEANING_SAME)
			return false;
		any = true;
		from = one->end;
	}
	return any;
}

/* The first code without CFI in [*from, end): its end, and *from becomes its start; 0: none. */
static uint64_t marks_gap(const struct report_marks *marks, uint64_t *from, uint64_t end)
{
	const struct cfi_ranges *ranges = &marks->all.input.ranges;

	for (size_t i = search_list_above(ranges->list, ranges->n, end, *from);
	     *from < end; i++) {
		if (i >= ranges->n || ranges->list[i].start >= end)
			return end;
		if (ranges->list[i].start > *from)
			return ranges->list[i].start;
		*from = ranges->list[i].end;
	}
	return 0;
}

/* Whether each row of code without CFI is one that its instructions prove, or another source has it. */
static bool marks_all_proven(struct report_marks *marks, struct sf_cursor *cursor)
{
	struct sf_segment segment;
	struct err ignored = {0};

	sf_cursor_seek(cursor, 0);
	while (sf_cursor_next(cursor, UINT64_MAX, &segment, &ignored)) {
		uint64_t from = segment.start, to;

		if (cursor->func.func.pcmask)
			continue;
		for (; (to = marks_gap(marks, &from, segment.end)); from = to)
			if (!marks_known(marks, from, to) &&
			    !marks_have_source(marks, segment.row, from, to) &&
			    !marks_proven(marks, segment.row, from, to))
				return false;
	}
	return !cursor->failed;
}

/* Whether there is a row wherever one begins that the code proves. */
static bool marks_have_all(struct sf_cursor *cursor, const struct sf_section *made)
{
	struct sf_segment segment;
	struct err ignored = {0};

	for (size_t i = 0; i < made->n_funcs; i++) {
		const struct sf_func *func = &made->funcs[i];

		for (size_t k = 0; k < func->n_rows; k++) {
			const uint64_t pc =
			    func->start + made->rows[func->first_row + k].start;

			sf_cursor_seek(cursor, pc);
			if (!sf_cursor_next(cursor, pc + 1, &segment, &ignored))
				return false;
		}
	}
	return made->n_funcs;
}

/*
 * Whether the section has what --derive gives, all of it and nothing else. The rows of a debug file
 * that is gone are over code without CFI, too, and the code may happen to prove them.
 */
static bool marks_derive(struct report_marks *marks)
{
	struct report_marks_cfi *all = &marks->all;
	const struct target target = {
	    .arch = all->input.arch, .version = marks->view->version};
	struct sf_section made = {0};
	struct sf_cursor cursor;
	struct err why = {0};
	uint64_t bytes;
	bool ok;

	if (!sf_check_all(marks->view, NULL, &why))
		return false;
	if (!derive_rows(marks->image, &all->input, &all->options, &why) ||
	    !sf_cursor_init(&cursor, marks->view, &why)) {
		marks->nomem |= why.kind == ERR_NOMEM;
		return false;
	}
	ok = derived_reduce(&all->input.derived, &target, &made, &bytes);
	marks->nomem |= !ok;
	ok = ok && marks_have_all(&cursor, &made) && marks_all_proven(marks, &cursor);
	sf_cursor_deinit(&cursor);
	sf_section_deinit(&made);
	return ok;
}

/* Whether the row is from the code of [from, to), which has no CFI. */
static bool marks_alone(
    struct report_marks *marks, const struct sf_row *row, uint64_t from, uint64_t to)
{
	if (marks_known(marks, from, to) || marks_have_source(marks, row, from, to))
		return false;
	if (!marks->derive_tried)
		marks->derives = marks_derive(marks);
	marks->derive_tried = true;
	return marks->derives && marks_proven(marks, row, from, to);
}

/* Whether the row is the code's own somewhere in [from, end), where CFI says something else. */
static bool marks_other(
    struct report_marks *marks, const struct sf_row *row, uint64_t from, uint64_t end)
{
	struct report_marks_cfi *all = &marks->all;
	const struct cfi_ranges *ranges = &all->input.ranges;

	for (size_t i = search_list_above(ranges->list, ranges->n, end, from);
	     i < ranges->n && ranges->list[i].start < end; i++) {
		const struct cfi_range *range = &ranges->list[i];
		const uint64_t start = range->start > from ? range->start : from;
		const uint64_t to = range->end < end ? range->end : end;

		if (marks_differ(marks, all, i, row, start, to) &&
		    !marks_have_source(marks, row, start, to) &&
		    marks_repaired(marks, row, start, to))
			return true;
	}
	return false;
}

const char *report_marks_of(
    void *context, const struct sf_row *row, uint64_t start, uint64_t end)
{
	struct report_marks *marks = context;
	bool repaired, derived = false;

	if (!marks->all.made)
		return NULL;
	repaired = marks_other(marks, row, start, end);
	for (uint64_t to; !derived && (to = marks_gap(marks, &start, end)); start = to)
		derived = marks_alone(marks, row, start, to);
	if (repaired)
		return derived ? "repaired, derived" : "repaired";
	return derived ? "derived" : NULL;
}
