/* SPDX-License-Identifier: MIT */
/* How many of the rows that no CFI gave were compared with the processor, and how many no run reached. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/oracle/step_report.h"

struct shown {
	uint64_t rows[STEP_N_MARKS], reached[STEP_N_MARKS];
};

/* A row holds for addresses of the file. */
static void count_row(
    const struct step_marks *marks, uint64_t start, uint64_t end, struct shown *shown)
{
	enum step_mark mark = step_marks_at(marks, start);

	if (mark == STEP_UNMARKED)
		return;
	shown->rows[mark]++;
	if (end > marks->list[marks->n - 1].end)
		end = marks->list[marks->n - 1].end;
	shown->reached[mark] += step_marks_seen(marks, start, end);
}

/* The rows of a PLT hold for each of its entries. */
static void count_func(const struct step_module *module, const struct sf_view_func *func,
    struct shown *shown)
{
	uint64_t start = func->func.start - module->bias;
	uint32_t part = func->func.pcmask ? func->func.rep_size : func->func.size;
	struct sf_row_iter iter;
	struct sf_row row, next;
	struct err err;
	bool more;

	for (uint32_t at = 0; part && at < func->func.size; at += part) {
		sf_rows_begin(&module->view, func, &iter);
		more = sf_rows_next(&iter, &row, &err);
		while (more) {
			more = sf_rows_next(&iter, &next, &err);
			count_row(&module->marks, start + at + row.start,
			    start + at + (more ? next.start : part), shown);
			row = next;
		}
	}
}

void step_shown_print(const struct step_module *module)
{
	struct shown shown = {0};
	struct sf_view_func func;
	struct err err;

	for (uint32_t i = 0; i < module->view.n_funcs; i++)
		if (sf_view_func(&module->view, i, &func, &err))
			count_func(module, &func, &shown);
	for (int mark = STEP_REPAIRED; mark < STEP_N_MARKS; mark++)
		if (shown.rows[mark])
			printf("%s, %s: %" PRIu64 " steps matched; %" PRIu64
			       " of %" PRIu64 " rows shown at %" PRIu64
			       " addresses, %" PRIu64 " not shown: no run reached them\n",
			    module->name, step_mark_names[mark],
			    module->stats.marked[mark], shown.reached[mark],
			    shown.rows[mark], module->marks.n_seen[mark],
			    shown.rows[mark] - shown.reached[mark]);
}
