/* SPDX-License-Identifier: MIT */
#include "gen/report/dump_marks.h"

#include "base/search.h"
#include "gen/insert/undo.h"
#include "gen/rows/padding.h"
#include "gen/rows/plt.h"
#include "gen/verify/meaning.h"
#include "sframe/cursor.h"

/* Whether this program put the section in. The record may lead back no more. */
static bool marks_own(const struct image *image)
{
	struct err ignored = {0};
	struct undo undo;
	bool found;

	return !undo_find(image, &undo, &found, &ignored) || found;
}

bool report_marks_make(const struct image *image, const struct sf_view *view,
    const struct options *options, struct report_marks *marks, struct err *err)
{
	struct coverage unused = {0};
	struct err why = {0};

	*marks = (struct report_marks){.image = image, .view = view, .range = SIZE_MAX};
	if (image->object || !marks_own(image))
		return true;
	if (!cfi_input_read(image, image, options, &marks->input, &why))
		return why.kind != ERR_NOMEM || err_set_nomem(err);
	marks->made = true;
	cfi_interp_init(&marks->interp, &marks->input.frames, &marks->input.arch->cfi);
	return plt_from_templates(&marks->input.policy, &marks->input.ranges,
		   &marks->templates, &unused) ||
	       err_set_nomem(err);
}

void report_marks_deinit(struct report_marks *marks)
{
	if (marks->made)
		cfi_interp_deinit(&marks->interp);
	sf_section_deinit(&marks->templates);
	cfi_input_deinit(&marks->input);
	*marks = (struct report_marks){0};
}

/* Another FDE's turn. */
static void marks_interpret(struct report_marks *marks, size_t i)
{
	const struct cfi_frames *frames = &marks->input.frames;
	const struct cfi_ranges *ranges = &marks->input.ranges;
	const struct cfi_fde *fde = &frames->fdes[ranges->list[i].fde];
	struct err why = {0};

	if (marks->range == i)
		return;
	marks->range = i;
	marks->interp.max_expr_ops = cfi_ranges_expr_ops(ranges, i);
	marks->readable = cfi_interpret(&marks->interp, fde, &why);
	marks->nomem |= !marks->readable && why.kind == ERR_NOMEM;
	marks->target =
	    target_for(marks->input.arch, marks->view->version, &frames->cies[fde->cie]);
}

/* Whether the CFI of range i says something else anywhere in [from, to), which is inside of it. */
static bool marks_differ(struct report_marks *marks, size_t i, const struct sf_row *row,
    uint64_t from, uint64_t to)
{
	const struct cfi_table *table = &marks->interp.table;

	/* Such code never has a row of this program. */
	if (marks->input.ranges.list[i].overlapping)
		return false;
	marks_interpret(marks, i);
	if (!marks->readable || !table->n_rows)
		return false;
	for (size_t k = cfi_table_row_at(table, from);
	     k < table->n_rows && table->rows[k].pc < to; k++)
		if (meaning_compare(&marks->target, row, &table->rows[k]) != MEANING_SAME)
			return true;
	return false;
}

/* Whether code of [from, to), which has no CFI, is neither padding nor a PLT that is known. */
static bool marks_alone(const struct report_marks *marks, uint64_t from, uint64_t to)
{
	if (padding_only(marks->image, marks->input.arch, from, to))
		return false;
	while (from < to) {
		uint64_t end = to;

		if (!sf_section_row_at(&marks->templates, from, &end))
			return true;
		from = end;
	}
	return false;
}

const char *report_marks_of(
    void *context, const struct sf_row *row, uint64_t start, uint64_t end)
{
	struct report_marks *marks = context;
	const struct cfi_ranges *ranges = &marks->input.ranges;
	bool repaired = false, derived = false;

	if (!marks->made)
		return NULL;
	for (size_t i = search_list_above(ranges->list, ranges->n, end, start);
	     start < end; i++) {
		const uint64_t at = i < ranges->n && ranges->list[i].start < end
					? ranges->list[i].start
					: end;
		uint64_t to;

		derived |= start < at && marks_alone(marks, start, at);
		start = start < at ? at : start;
		if (start == end)
			break;
		to = ranges->list[i].end < end ? ranges->list[i].end : end;
		repaired |= marks_differ(marks, i, row, start, to);
		start = to;
	}
	if (repaired)
		return derived ? "repaired, derived" : "repaired";
	return derived ? "derived" : NULL;
}
