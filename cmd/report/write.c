/* SPDX-License-Identifier: MIT */
/* The report as a document, and as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "cmd/report/report.h"

/* Code with CFI or all of it, and how much of it has rows. Frames without a caller are in neither. */
struct report_share {
	uint64_t part, whole;
};

static struct report_share report_share(const struct report_code *code, bool executable)
{
	json_int_t part = code->covered, whole;

	if (executable) {
		report_sum(&part, code->plt_template);
		report_sum(&part, code->derived);
	}
	whole = (executable ? code->executable : code->with_cfi) - code->outermost;
	/* Another program may have written the counts. */
	return (struct report_share){(uint64_t)part, whole > 0 ? (uint64_t)whole : 0};
}

const char *report_code_percent(
    const struct report_code *code, bool executable, char text[PERCENT_SIZE])
{
	const struct report_share share = report_share(code, executable);

	return percent_text(share.part, share.whole, "%", text);
}

/* null where there is no code. */
static json_t *report_percent(const struct report_code *code, bool executable)
{
	const struct report_share share = report_share(code, executable);

	return share.whole ? json_real(percent_of(share.part, share.whole)) : json_null();
}

static json_t *report_code_object(const struct report_code *code)
{
	json_t *object = json_pack("{sI sI sI sI so sI so}", "with_cfi", code->with_cfi,
	    "covered", code->covered, "plt_template", code->plt_template, "outermost",
	    code->outermost, "percent_of_cfi", report_percent(code, false), "executable",
	    code->executable, "percent_of_executable", report_percent(code, true));

	if (object &&
	    (!code->derived || json_object_set_new(object, "derived",
				   json_integer(code->derived)) == 0) &&
	    (!code->go_table || json_object_set_new(object, "go_table",
				    json_integer(code->go_table)) == 0))
		return object;
	json_decref(object);
	return NULL;
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
	static const char *const converted[] = {"counts", "sizes", "code", "refused"};
	const struct report_sums *sums = &report->sums;
	const bool checks = report->checks.files != 0;
	json_t *object =
	    json_pack("{si sI sI so so sI sI sI s{sI sI sI} s{sI sI sI} so so}", "status",
		sums->status, "done", sums->done, "already", sums->already, "skipped",
		report_sort_members(report->skips), "failed",
		report_sort_members(report->fails), "not_elf", report->apart.not_elf,
		"mount_points", report->apart.mount_points, "excluded",
		report->apart.excluded, "counts", "functions_with_cfi", sums->functions,
		"functions_with_rows", sums->with_rows, "functions_with_gaps",
		sums->with_gaps, "sizes", ".eh_frame", sums->eh_frame, ".eh_frame_hdr",
		sums->eh_frame_hdr, ".sframe", sums->sframe, "code",
		report_code_object(&sums->code), "refused",
		report_sort_members(report->refused));

	/* A check counts no bytes of code. */
	for (size_t i = 0; object && checks && !sums->counted &&
			   i < sizeof(converted) / sizeof(converted[0]);
	     i++)
		json_object_del(object, converted[i]);
	if (!object || !checks ||
	    json_object_set_new(object, "check", report_checks_object(&report->checks)) ==
		0)
		return object;
	json_decref(object);
	return NULL;
}

void report_write_head(const char *summary, report_put_fn *put, FILE *out)
{
	fprintf(out,
	    "{\n \"tool\": \"eh2sframe\",\n \"version\": \"%s\",\n \"schema\": %d",
	    eh2sframe_version(), REPORT_SCHEMA);
	if (summary) {
		fputs(",\n \"summary\": ", out);
		put(summary, out);
	}
	fputs(",\n \"files\": [", out);
}

void report_write_next(size_t i, FILE *out)
{
	fputs(i ? ",\n  " : "\n  ", out);
}

void report_write_tail(size_t n, FILE *out)
{
	fputs(n ? "\n ]\n}\n" : "]\n}\n", out);
}

bool report_write_all(const struct report_document *report, report_put_fn *put, FILE *out)
{
	json_t *object = report_summary_object(report);
	char *summary = report_value_dump(object);

	json_decref(object);
	if (!summary)
		return false;
	report_write_head(summary, put, out);
	for (size_t i = 0; i < report->n; i++) {
		report_write_next(i, out);
		put(report->list[i].text, out);
	}
	report_write_tail(report->n, out);
	free(summary);
	return true;
}

bool report_document_write(struct report_document *report, struct print_out *out,
    bool html, struct eh2sframe_error *err)
{
	bool ok;

	print_start(out);
	ok = (html ? report_html_page(report, out->file)
		   : report_write_all(report, fputs, out->file)) ||
	     cmd_fail_nomem(err);
	return print_close(out, ok, err);
}

/* " (reason n, reason n)"; nothing without any. */
static void report_print_kinds(json_t *kinds, FILE *out)
{
	const char *separator = " (", *kind;
	json_t *sorted = report_sort_members(kinds), *n;

	json_object_foreach(sorted, kind, n)
	{
		fputs(separator, out);
		plain_print(kind, out);
		fprintf(out, " %" JSON_INTEGER_FORMAT, json_integer_value(n));
		separator = ", ";
	}
	if (json_object_size(sorted))
		putc(')', out);
	json_decref(sorted);
}

/* Reports without a conversion say only what one would give. A word is about this run alone. */
static void report_print_done(const struct report_sums *sums, const char *done, FILE *out)
{
	json_int_t reported = sums->done - sums->converted;

	if (done)
		fprintf(
		    out, "%" JSON_INTEGER_FORMAT " %s", sums->done - sums->already, done);
	else if (sums->converted || !reported)
		fprintf(out, "%" JSON_INTEGER_FORMAT " converted", sums->converted);
	if (!done && reported)
		fprintf(out, "%s%" JSON_INTEGER_FORMAT " reported",
		    sums->converted ? ", " : "", reported);
	if (sums->already)
		fprintf(out,
		    done ? ", %" JSON_INTEGER_FORMAT " converted already"
			 : " (%" JSON_INTEGER_FORMAT " of them by an earlier run)",
		    sums->already);
}

void report_print_summary(
    const struct report_document *report, const char *done, FILE *out)
{
	const struct report_sums *sums = &report->sums;
	char of_cfi[PERCENT_SIZE], of_all[PERCENT_SIZE];

	report_print_done(sums, done, out);
	fprintf(out, ", %" JSON_INTEGER_FORMAT " skipped", sums->skipped);
	report_print_kinds(report->skips, out);
	fprintf(out,
	    ", %" JSON_INTEGER_FORMAT " failed, %" JSON_INTEGER_FORMAT " not ELF",
	    sums->failed, report->apart.not_elf);
	if (report->apart.excluded)
		fprintf(
		    out, ", %" JSON_INTEGER_FORMAT " excluded", report->apart.excluded);
	if (sums->counted)
		fprintf(out,
		    "; %s of code with CFI and %s of all executable code covered, "
		    "%" JSON_INTEGER_FORMAT " bytes .sframe",
		    report_code_percent(&sums->code, false, of_cfi),
		    report_code_percent(&sums->code, true, of_all), sums->sframe);
	putc('\n', out);
}
