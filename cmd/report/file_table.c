/* SPDX-License-Identifier: MIT */
/* The rows of a run, as text. */
#include "cmd/report/file_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "base/vec.h"
#include "cmd/report/history.h"

void report_table_deinit(struct report_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->list[i].path);
	free(table->list);
	*table = (struct report_table){0};
}

bool report_table_add(struct report_table *table, const char *path, int status,
    const json_t *file, struct eh2sframe_error *error)
{
	const json_t *code = json_object_get(file, "code");
	struct report_row row = {.status = status, .counted = code != NULL};

	if (!report_code_add(&row.code, code, error) ||
	    !report_add_count(json_object_get(file, "counts"), "functions_with_gaps",
		&row.gaps, error) ||
	    !report_add_count(
		json_object_get(file, "sizes"), ".sframe", &row.sframe, error))
		return false;
	if (!vec_reserve(&table->list, &table->cap, table->n + 1))
		return cmd_fail_nomem(error);
	row.path = strdup(path);
	if (!row.path)
		return cmd_fail_nomem(error);
	table->list[table->n++] = row;
	return true;
}

/* Orders rows, the worst first. Files that have no counts come last. */
static int table_order(const void *a, const void *b)
{
	const struct report_row *x = a, *y = b;
	const json_int_t left = report_code_uncovered(&x->code);
	const json_int_t right = report_code_uncovered(&y->code);

	if (x->counted != y->counted)
		return y->counted - x->counted;
	return left != right ? (left < right) - (left > right) : strcmp(x->path, y->path);
}

/* The sums of those that have counts; path is NULL. Returns how many they are. */
static size_t table_total(const struct report_table *table, struct report_row *total)
{
	size_t n = 0;

	*total = (struct report_row){.counted = true};
	for (size_t i = 0; i < table->n; i++) {
		const struct report_row *row = &table->list[i];

		if (!row->counted)
			continue;
		n++;
		report_sum(&total->code.with_cfi, row->code.with_cfi);
		report_sum(&total->code.covered, row->code.covered);
		report_sum(&total->code.plt_template, row->code.plt_template);
		report_sum(&total->code.derived, row->code.derived);
		report_sum(&total->code.executable, row->code.executable);
		report_sum(&total->code.outermost, row->code.outermost);
		report_sum(&total->gaps, row->gaps);
		report_sum(&total->sframe, row->sframe);
	}
	return n;
}

/* All but the name. */
static void table_line(const struct report_row *row, FILE *out)
{
	char of_cfi[PERCENT_SIZE], of_all[PERCENT_SIZE];

	fprintf(out,
	    "%8s  %10s %11" JSON_INTEGER_FORMAT " %7" JSON_INTEGER_FORMAT
	    " %10" JSON_INTEGER_FORMAT "  ",
	    report_code_percent(&row->code, false, of_cfi),
	    report_code_percent(&row->code, true, of_all),
	    report_code_uncovered(&row->code), row->gaps, row->sframe);
}

void report_table_print(struct report_table *table, FILE *out)
{
	struct report_row total;
	const size_t n = table_total(table, &total);
	size_t nothing = 0;

	if (!n)
		return;
	qsort(table->list, table->n, sizeof(*table->list), table_order);
	fputs("with CFI  executable   uncovered    gaps    .sframe  file\n", out);
	for (size_t i = 0; i < n; i++) {
		table_line(&table->list[i], out);
		plain_print(table->list[i].path, out);
		fputc('\n', out);
	}
	table_line(&total, out);
	fprintf(out, "%zu file%s", n, num_s(n));
	for (size_t i = 0; i < table->n; i++)
		nothing += table->list[i].status == EH2SFRAME_NOTHING;
	if (nothing)
		fprintf(out, ", %zu passed over", nothing);
	if (n + nothing < table->n)
		fprintf(out, ", %zu failed", table->n - n - nothing);
	fputc('\n', out);
}
