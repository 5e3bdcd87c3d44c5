/* SPDX-License-Identifier: MIT */
/* The report as a document, and as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "cmd/report/report.h"
#include "cmd/common/print.h"

static double report_percent_exact(json_int_t covered, json_int_t with_cfi)
{
	return with_cfi ? 100.0 * (double)covered / (double)with_cfi : 100.0;
}

double report_percent_shown(json_int_t covered, json_int_t with_cfi)
{
	double percent = report_percent_exact(covered, with_cfi);

	return covered < with_cfi && percent > 99.99 ? 99.99 : percent;
}

static int report_key_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *report_sort_members(json_t *object)
{
	size_t n = json_object_size(object), i = 0;
	const char **keys = calloc(n + 1, sizeof(*keys)), *key;
	json_t *sorted = keys ? json_object() : NULL, *value;

	if (!sorted) {
		free(keys);
		return NULL;
	}
	json_object_foreach(object, key, value) keys[i++] = key;
	qsort(keys, n, sizeof(*keys), report_key_order);
	for (i = 0; i < n; i++) {
		if (json_object_set(sorted, keys[i], json_object_get(object, keys[i]))) {
			json_decref(sorted);
			sorted = NULL;
			break;
		}
	}
	free(keys);
	return sorted;
}

/* Readers see the summary first, so it has this order. */
static json_t *report_summary_object(const struct report_document *report)
{
	const struct report_sums *sums = &report->sums;

	return json_pack("{si sI so so sI sI s{sI sI sI} s{sI sI sI} s{sI sI sI sf} so}",
	    "status", sums->status, "done", sums->done, "skipped",
	    report_sort_members(report->skips), "failed",
	    report_sort_members(report->fails), "not_elf", report->apart.not_elf,
	    "mount_points", report->apart.mount_points, "counts", "functions",
	    sums->functions, "functions_with_rows", sums->with_rows,
	    "functions_with_gaps", sums->with_gaps, "sizes", ".eh_frame", sums->eh_frame,
	    ".eh_frame_hdr", sums->eh_frame_hdr, ".sframe", sums->sframe, "code",
	    "with_cfi", sums->with_cfi, "covered", sums->covered, "plt_template",
	    sums->plt_template, "percent",
	    report_percent_exact(sums->covered, sums->with_cfi), "refused",
	    report_sort_members(report->refused));
}

/* Writes a value inside the document, with jansson's indentation. */
static bool report_write_indented(const json_t *value, const char *indent, FILE *out)
{
	char *text = json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(9));

	for (const char *p = text; p && *p; p++) {
		putc(*p, out);
		if (*p == '\n')
			fputs(indent, out);
	}
	free(text);
	return text != NULL;
}

/* Writes file by file: all values at once would need too much memory. */
static bool report_write_all(const struct report_document *report, FILE *out)
{
	json_t *summary = report_summary_object(report);
	bool ok;

	fprintf(out,
	    "{\n \"tool\": \"eh2sframe\",\n \"version\": \"%s\",\n \"summary\": ",
	    eh2sframe_version());
	ok = summary && report_write_indented(summary, " ", out);
	json_decref(summary);
	fputs(",\n \"files\": [", out);
	for (size_t i = 0; ok && i < report->n; i++) {
		json_t *file = json_loads(report->list[i].text, 0, NULL);

		fputs(i ? ",\n  " : "\n  ", out);
		ok = file && report_write_indented(file, "  ", out);
		json_decref(file);
	}
	fputs(report->n ? "\n ]\n}\n" : "]\n}\n", out);
	return ok;
}

bool report_document_write(const struct report_document *report, const char *path,
    bool html, struct eh2sframe_error *err)
{
	FILE *out = print_open(path, err);
	struct eh2sframe_error late;
	bool ok;

	if (!out)
		return false;
	ok = (html ? report_html_page : report_write_all)(report, out) ||
	     cmd_fail_nomem(err);
	return print_close(out, ok ? err : &late) && ok;
}

/* " (reason n, reason n)"; nothing without any. */
static void report_print_kinds(json_t *kinds, FILE *out)
{
	const char *separator = " (", *kind;
	json_t *sorted = report_sort_members(kinds), *n;

	json_object_foreach(sorted, kind, n)
	{
		fprintf(out, "%s%s %" JSON_INTEGER_FORMAT, separator, kind,
		    json_integer_value(n));
		separator = ", ";
	}
	if (json_object_size(sorted))
		putc(')', out);
	json_decref(sorted);
}

void report_print_summary(const struct report_document *report, FILE *out)
{
	const struct report_sums *sums = &report->sums;

	fprintf(out,
	    "%" JSON_INTEGER_FORMAT " converted, %" JSON_INTEGER_FORMAT " skipped",
	    sums->done, sums->skipped);
	report_print_kinds(report->skips, out);
	fprintf(out,
	    ", %" JSON_INTEGER_FORMAT " failed, %" JSON_INTEGER_FORMAT " not ELF",
	    sums->failed, report->apart.not_elf);
	if (sums->done)
		fprintf(out,
		    "; %.2f%% of code covered, %" JSON_INTEGER_FORMAT " bytes .sframe",
		    report_percent_shown(sums->covered, sums->with_cfi), sums->sframe);
	putc('\n', out);
}

void report_print_line(json_t *file, const char *path, FILE *out)
{
	const char *skipped = json_string_value(json_object_get(file, "skipped"));
	json_int_t functions = 0, gaps = 0, cfi = 0, size = 0, covered = 0, code = 0;
	int version = 0;

	if (skipped) {
		fprintf(out, "%s: skipped: %s\n", path, skipped);
		return;
	}
	if (json_unpack(file, "{si s{sI sI} s{sI sI} s{sI sI}}", "format", &version,
		"counts", "functions_with_rows", &functions, "functions_with_gaps", &gaps,
		"sizes", ".eh_frame", &cfi, ".sframe", &size, "code", "covered", &covered,
		"with_cfi", &code) < 0)
		return;
	fprintf(out,
	    "%s: %" JSON_INTEGER_FORMAT
	    " function%s, %.2f%% of code covered, %" JSON_INTEGER_FORMAT
	    " bytes .sframe v%d (%.2f of .eh_frame), %" JSON_INTEGER_FORMAT " refused\n",
	    path, functions, num_s((uint64_t)functions),
	    report_percent_shown(covered, code), size, version,
	    cfi ? (double)size / (double)cfi : 0.0, gaps);
}
