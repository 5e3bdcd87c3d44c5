/* SPDX-License-Identifier: MIT */
/*
 * Annotations and markdown. Names come from files: none of them may end a message, begin
 * a workflow command or be read as markup.
 */
#include "cmd/report/github.h"

#include <ctype.h>
#include <string.h>

#include "base/num.h"

/* GitHub shows few annotations, and a page of 1 MiB at most. */
enum { GITHUB_CHANGES = 10, GITHUB_ROWS = 200, GITHUB_NAME = 300 };

/* U+0080 to U+009F, which terminals obey. */
static bool github_is_c1(const char *text)
{
	const unsigned char next = (unsigned char)text[1];

	return (unsigned char)*text == 0xc2 && next >= 0x80 && next < 0xa0;
}

/* Signs that mean something in a workflow command; in a property more of them do. Other
 * control bytes have no place in a log. */
static void github_escape(const char *text, bool property, FILE *out)
{
	for (; *text; text++) {
		const unsigned char sign = (unsigned char)*text;

		if (github_is_c1(text)) {
			putc('?', out);
			text++;
		} else if (sign == '%' || sign == '\r' || sign == '\n' ||
			   (property && (sign == ':' || sign == ','))) {
			fprintf(out, "%%%02X", sign);
		} else {
			putc(sign < ' ' || sign == 0x7f ? '?' : sign, out);
		}
	}
}

/* What changed, as text in memory; the caller frees it. NULL when memory runs out. */
static char *github_change(const json_t *change)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	report_change_print(change, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static const json_t *github_changes(
    const struct report_gate *gate, const char *path, const char *list)
{
	for (size_t i = 0; i < gate->n; i++)
		if (!strcmp(gate->list[i].path, path))
			return json_object_get(gate->list[i].changes, list);
	return NULL;
}

static void github_annotation_changes(const json_t *changes, FILE *out)
{
	const size_t n = json_array_size(changes);

	for (size_t i = 0; i < n && i < GITHUB_CHANGES; i++) {
		char *text = github_change(json_array_get(changes, i));

		fputs("%0A", out);
		github_escape(text ? text : "no memory", false, out);
		free(text);
	}
	if (n > GITHUB_CHANGES)
		fprintf(out, "%%0Aand %zu more", n - GITHUB_CHANGES);
}

void report_github_annotations(
    const struct report_table *table, const struct report_gate *gate, FILE *out)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct report_row *row = &table->list[i];

		if (row->status == EH2SFRAME_DONE || row->status == EH2SFRAME_NOTHING)
			continue;
		fputs("::error file=", out);
		github_escape(row->path, true, out);
		fputs(",title=eh2sframe::", out);
		github_escape(row->why ? row->why : "failed", false, out);
		github_annotation_changes(github_changes(gate, row->path, "worse"), out);
		putc('\n', out);
	}
}

/* Plain text in a cell: what could be a mark is a number of a character. */
static void github_text(const char *text, FILE *out)
{
	for (size_t i = 0; text[i] && i < GITHUB_NAME; i++) {
		const unsigned char sign = (unsigned char)text[i];

		const bool c1 = github_is_c1(text + i);

		i += c1;
		if (sign < ' ' || sign == 0x7f || c1)
			fputs("&#xfffd;", out);
		else if (sign >= 0x80 || isalnum(sign) || strchr(" /-", sign))
			putc(sign, out);
		else
			fprintf(out, "&#%u;", sign);
	}
	if (strnlen(text, GITHUB_NAME) == GITHUB_NAME)
		fputs("...", out);
}

static void github_numbers(const struct report_row *row, FILE *out)
{
	char of_cfi[REPORT_PERCENT_SIZE], of_all[REPORT_PERCENT_SIZE];

	if (!row->counted) {
		fputs("| | | | | |\n", out);
		return;
	}
	fprintf(out,
	    "| %s | %s | %" JSON_INTEGER_FORMAT " | %" JSON_INTEGER_FORMAT
	    " | %" JSON_INTEGER_FORMAT " |\n",
	    report_code_percent(&row->code, false, of_cfi),
	    report_code_percent(&row->code, true, of_all),
	    report_code_uncovered(&row->code), row->gaps, row->sframe);
}

static void github_row(const struct report_row *row, FILE *out)
{
	fputs("| ", out);
	github_text(row->path, out);
	fputs(" | ", out);
	if (row->why)
		github_text(row->why, out);
	else
		fputs("done", out);
	putc(' ', out);
	github_numbers(row, out);
}

/* Files that failed come first: they are what a reader looks for. */
static size_t github_rows(
    const struct report_table *table, bool failed, size_t left, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n && n < left; i++) {
		const struct report_row *row = &table->list[i];
		bool bad =
		    row->status != EH2SFRAME_DONE && row->status != EH2SFRAME_NOTHING;

		if (bad != failed)
			continue;
		github_row(row, out);
		n++;
	}
	return n;
}

static void github_list(
    const struct report_gate *gate, const char *name, const char *title, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < gate->n; i++) {
		const json_t *list = json_object_get(gate->list[i].changes, name);

		for (size_t k = 0; k < json_array_size(list); k++, n++) {
			char *text;

			if (n >= GITHUB_ROWS)
				continue;
			if (!n)
				fprintf(out, "\n### %s\n\n", title);
			text = github_change(json_array_get(list, k));
			fputs("- ", out);
			github_text(gate->list[i].path, out);
			fputs(": ", out);
			github_text(text ? text : "no memory", out);
			putc('\n', out);
			free(text);
		}
	}
	if (n > GITHUB_ROWS)
		fprintf(out, "- and %zu more\n", n - GITHUB_ROWS);
}

void report_github_page(const struct report_table *table, const struct report_gate *gate,
    size_t top, FILE *out)
{
	struct report_row total;
	const size_t n = report_table_total(table, &total);
	const size_t most = top && top < GITHUB_ROWS ? top : GITHUB_ROWS;
	size_t shown;

	fputs("\n## SFrame coverage\n\n"
	      "| File | Result | Of code with CFI | Of executable code | Uncovered bytes "
	      "| Functions with gaps | .sframe bytes |\n"
	      "| :--- | :--- | ---: | ---: | ---: | ---: | ---: |\n",
	    out);
	shown = github_rows(table, true, most, out);
	shown += github_rows(table, false, most - shown, out);
	fprintf(out, "| %zu file%s", table->n, num_s(table->n));
	if (shown < table->n)
		fprintf(out, ", %zu not shown", table->n - shown);
	fprintf(out, " | %zu counted ", n);
	github_numbers(&total, out);
	github_list(gate, "worse", "Functions that are worse off", out);
	github_list(gate, "better", "Functions that are better off", out);
}
