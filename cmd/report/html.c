/* SPDX-License-Identifier: MIT */
/*
 * The page. Text from files (paths, names of symbols, messages) goes through html_text.
 * If that fails, the page's own policy keeps a browser from running or fetching
 * anything.
 */
#include <inttypes.h>

#include "cmd/report/report.h"

static const char html_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<title>SFrame coverage</title>\n"
    "<style>\n"
    "body { font-family: sans-serif; margin: 2em; }\n"
    "table { border-collapse: collapse; margin: 1em 0; }\n"
    "th, td { border: 1px solid #bbb; padding: .2em .6em; text-align: right; }\n"
    "th { background: #eee; }\n"
    "td.text, th.text { text-align: left; overflow-wrap: anywhere; }\n"
    "tr.failed td { background: #fdd; }\n"
    "tr.skipped td { color: #666; }\n"
    "</style>\n</head>\n<body>\n<h1>SFrame coverage</h1>\n";

/* Text is UTF-8, as JSON is. Control characters have no place in a page. */
static void html_text(const char *text, FILE *out)
{
	for (; text && *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			if ((unsigned char)*text < ' ' || *text == 0x7f)
				fputs("&#xfffd;", out);
			else
				putc(*text, out);
			break;
		}
	}
}

/* A column of text. */
static void html_cell(const char *text, FILE *out)
{
	fputs("<td class=\"text\">", out);
	html_text(text, out);
	fputs("</td>", out);
}

static void html_number(json_int_t number, FILE *out)
{
	fprintf(out, "<td>%" JSON_INTEGER_FORMAT "</td>", number);
}

/* One cell per column; the first has the class "text". */
static void html_columns(const char *const *columns, size_t n, FILE *out)
{
	fputs("<tr>", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "<th%s>%s</th>", i ? "" : " class=\"text\"", columns[i]);
	fputs("</tr>\n", out);
}

/* One line for each reason or status, with the number of files. */
static bool html_kinds(const char *what, json_t *kinds, FILE *out)
{
	json_t *sorted = report_sort_members(kinds), *n;
	const char *kind;

	json_object_foreach(sorted, kind, n)
	{
		fprintf(out, "<tr><td class=\"text\">%s, ", what);
		html_text(kind, out);
		fputs("</td>", out);
		html_number(json_integer_value(n), out);
		fputs("</tr>\n", out);
	}
	json_decref(sorted);
	return sorted != NULL;
}

/* The summary of the JSON report. */
static bool html_totals(const struct report_document *report, FILE *out)
{
	const struct report_sums *sums = &report->sums;
	const struct {
		const char *what;
		json_int_t n;
	} rows[] = {
	    {"functions with CFI", sums->functions},
	    {"functions with rows", sums->with_rows},
	    {"functions with gaps", sums->with_gaps},
	    {"bytes of code with CFI", sums->code.with_cfi},
	    {"bytes of executable code", sums->code.executable},
	    {"bytes of code covered", sums->code.covered},
	    {"bytes of PLT stubs covered by template", sums->code.plt_template},
	    {"bytes of outermost frames", sums->code.outermost},
	    {"bytes of .eh_frame", sums->eh_frame},
	    {"bytes of .sframe", sums->sframe},
	    {"files that are not ELF", report->apart.not_elf},
	    {"files excluded", report->apart.excluded},
	    {"files done", sums->done},
	};

	char percent[REPORT_PERCENT_SIZE];

	fputs("<h2>Totals</h2>\n<table>\n", out);
	fprintf(out,
	    "<tr><td class=\"text\">of code with CFI covered</td><td>%s</td></tr>\n",
	    report_code_percent(&sums->code, false, percent));
	fprintf(out,
	    "<tr><td class=\"text\">of all executable code covered</td><td>%s</td>"
	    "</tr>\n",
	    report_code_percent(&sums->code, true, percent));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fputs("<tr>", out);
		html_cell(rows[i].what, out);
		html_number(rows[i].n, out);
		fputs("</tr>\n", out);
	}
	if (!html_kinds("files skipped", report->skips, out) ||
	    !html_kinds("files failed, status", report->fails, out))
		return false;
	fputs("</table>\n", out);
	return true;
}

static bool html_refused(const struct report_document *report, FILE *out)
{
	static const char *const columns[] = {"reason", "functions", "bytes"};
	json_t *sorted = report_sort_members(report->refused), *one;
	const char *reason;

	fputs("<h2>Code left out, by reason</h2>\n<table>\n", out);
	html_columns(columns, sizeof(columns) / sizeof(columns[0]), out);
	json_object_foreach(sorted, reason, one)
	{
		fputs("<tr>", out);
		html_cell(reason, out);
		html_number(json_integer_value(json_object_get(one, "functions")), out);
		html_number(json_integer_value(json_object_get(one, "bytes")), out);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
	json_decref(sorted);
	return sorted != NULL;
}

/* 0 where there is none: another version or program may have written a merged report. */
static json_int_t html_count(const json_t *file, const char *group, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(file, group), name));
}

/* A file without counts shows the reason instead. */
static void html_file(const json_t *file, FILE *out)
{
	const char *skipped = json_string_value(json_object_get(file, "skipped"));
	const char *error = json_string_value(json_object_get(file, "error"));
	json_int_t cfi = html_count(file, "sizes", ".eh_frame");
	json_int_t size = html_count(file, "sizes", ".sframe");
	struct report_code code = {0};
	struct eh2sframe_error ignored;
	char percent[REPORT_PERCENT_SIZE];

	fprintf(out, "<tr%s>",
	    skipped ? " class=\"skipped\""
	    : error ? " class=\"failed\""
		    : "");
	html_cell(json_string_value(json_object_get(file, "path")), out);
	html_number(json_integer_value(json_object_get(file, "status")), out);
	if (!json_object_get(file, "code")) {
		fputs("<td colspan=\"8\" class=\"text\">", out);
		html_text(skipped ? skipped : error, out);
		fputs("</td></tr>\n", out);
		return;
	}
	html_cell(json_string_value(json_object_get(file, "machine")), out);
	html_number(html_count(file, "counts", "functions_with_cfi"), out);
	html_number(html_count(file, "counts", "functions_with_gaps"), out);
	if (!report_code_add(&code, json_object_get(file, "code"), &ignored))
		code = (struct report_code){.uncounted = 1};
	fprintf(out, "<td>%s</td>", report_code_percent(&code, false, percent));
	fprintf(out, "<td>%s</td>", report_code_percent(&code, true, percent));
	html_number(cfi, out);
	html_number(size, out);
	fprintf(out, "<td>%.2f</td></tr>\n", cfi ? (double)size / (double)cfi : 0.0);
}

/* With -v. */
static void html_gaps(const json_t *file, FILE *out)
{
	static const char *const members[] = {
	    "reason", "start", "function", "rule", "name"};
	json_t *gaps = json_object_get(file, "gaps"), *gap;
	size_t i;

	if (!json_array_size(gaps))
		return;
	fputs("<h3>", out);
	html_text(json_string_value(json_object_get(file, "path")), out);
	fputs("</h3>\n<table>\n", out);
	html_columns(members, sizeof(members) / sizeof(members[0]), out);
	json_array_foreach(gaps, i, gap)
	{
		fputs("<tr>", out);
		for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
			html_cell(
			    json_string_value(json_object_get(gap, members[k])), out);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* Parse the objects one at a time: as text they take less memory. */
static bool html_each(
    const struct report_document *report, void (*one)(const json_t *, FILE *), FILE *out)
{
	for (size_t i = 0; i < report->n; i++) {
		json_t *file = json_loads(report->list[i].text, 0, NULL);

		if (!file)
			return false;
		one(file, out);
		json_decref(file);
	}
	return true;
}

bool report_html_page(const struct report_document *report, FILE *out)
{
	static const char *const columns[] = {"file", "status", "machine", "functions",
	    "with gaps", "of code with CFI", "of executable code", ".eh_frame", ".sframe",
	    "ratio"};

	fputs(html_head, out);
	if (!html_totals(report, out) || !html_refused(report, out))
		return false;
	fputs("<h2>Files</h2>\n<table>\n", out);
	html_columns(columns, sizeof(columns) / sizeof(columns[0]), out);
	if (!html_each(report, html_file, out))
		return false;
	fputs("</table>\n", out);
	if (!html_each(report, html_gaps, out))
		return false;
	fprintf(out, "<p>eh2sframe %s</p>\n</body>\n</html>\n", eh2sframe_version());
	return true;
}
