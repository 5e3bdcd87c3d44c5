/* SPDX-License-Identifier: MIT */
/* Makes the objects of files, and adds them up. */
#include "cmd/report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_utf8.h"
#include "base/plain.h"
#include "base/vec.h"
#include "base/program/print.h"

json_t *report_file_done(json_t *report, const char *path, json_t *others)
{
	bool ok = json_object_set_new(report, "path", json_utf8(path)) == 0;

	/* Takes others. */
	if (others)
		ok = json_object_set_new(report, "links", others) == 0 && ok;
	if (ok)
		return report;
	json_decref(report);
	return NULL;
}

bool report_file_add_link(json_t *others, const char *path)
{
	return json_array_append_new(others, json_utf8(path)) == 0;
}

/* A text that grows. */
struct report_text {
	char *text;
	size_t n, cap;
	bool failed;
};

static int report_text_add_plain(const char *piece, size_t size, void *context)
{
	struct report_text *to = context;

	if (!vec_reserve(&to->text, &to->cap, to->n + size + 1))
		to->failed = true;
	if (to->failed)
		return -1;
	memcpy(to->text + to->n, piece, size);
	to->n += size;
	to->text[to->n] = '\0';
	return 0;
}

/* For json_dump_callback. Parts of it do not look at the result, so the failure is noted, too:
 * json_dumps itself leaves out a key then. */
static int report_text_add(const char *piece, size_t size, void *context)
{
	return plain_json(piece, size, report_text_add_plain, context);
}

char *report_value_dump(const json_t *value)
{
	struct report_text to = {0};

	/* As many digits as the document has, so text that is read and written again stays
	 * the same. */
	if (value &&
	    json_dump_callback(value, report_text_add, &to,
		JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) == 0 &&
	    !to.failed)
		return to.text;
	free(to.text);
	return NULL;
}

json_t *report_file_skipped(const char *path, const char *reason)
{
	return json_pack("{so si ss}", "path", json_utf8(path), "status",
	    EH2SFRAME_NOTHING, "skipped", reason);
}

json_t *report_file_failed(const char *path, const struct eh2sframe_error *why)
{
	return json_pack("{so si so}", "path", json_utf8(path), "status",
	    (int)why->status, "error", json_utf8(why->text));
}

bool report_file_judge(json_t *report, const struct eh2sframe_error *why)
{
	return json_object_set_new(
		   report, "status", json_integer((json_int_t)why->status)) == 0 &&
	       json_object_set_new(report, "error", json_utf8(why->text)) == 0;
}

/* Names in it can be any bytes, and JSON has UTF-8 alone: each byte is a character of its own. */
bool report_file_add_text(json_t *report, const char *text)
{
	char *wide = malloc(2 * strlen(text) + 1), *to = wide;
	bool ok;

	for (; wide && *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	}
	ok = wide && json_object_set_new(
			 report, "text", json_stringn(wide, (size_t)(to - wide))) == 0;
	free(wide);
	return ok;
}

/* Returns the lines for people, which the caller frees; NULL: there are none, or memory runs out. */
static char *report_file_text(const json_t *report)
{
	const char *wide = json_string_value(json_object_get(report, "text"));
	char *text = wide ? strdup(wide) : NULL, *to = text;

	if (!text)
		return NULL;
	/* Another program may have written other characters. */
	for (const char *p = text; *p; p++) {
		const unsigned char c = (unsigned char)*p;

		*to++ = (char)(c < 0x80 || !p[1] ? c : (c & 3) << 6 | (*++p & 0x3f));
	}
	*to = '\0';
	return text;
}

bool report_document_init(struct report_document *report, struct eh2sframe_error *err)
{
	*report = (struct report_document){
	    .skips = json_object(), .fails = json_object(), .refused = json_object()};
	return report_checks_init(&report->checks, err) &&
	       ((report->skips && report->fails && report->refused) ||
		   cmd_fail_nomem(err));
}

void report_document_deinit(struct report_document *report)
{
	for (size_t i = 0; i < report->n; i++) {
		free(report->list[i].path);
		free(report->list[i].text);
		free(report->list[i].words);
	}
	free(report->list);
	json_decref(report->skips);
	json_decref(report->fails);
	json_decref(report->refused);
	report_checks_deinit(&report->checks);
	*report = (struct report_document){0};
}

void report_sum(json_int_t *sum, json_int_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = INT64_MAX;
}

bool report_add_count(
    const json_t *object, const char *name, json_int_t *sum, struct eh2sframe_error *err)
{
	const json_t *value = json_object_get(object, name);

	if (!value)
		return true;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return cmd_fail(err, EH2SFRAME_INPUT, "%s is not a count", name);
	report_sum(sum, json_integer_value(value));
	return true;
}

/* Counts one more of a kind. */
static bool report_count_kind(
    json_t *counts, const char *kind, struct eh2sframe_error *err)
{
	json_int_t n = json_integer_value(json_object_get(counts, kind));

	return json_object_set_new(counts, kind, json_integer(n + 1)) == 0 ||
	       cmd_fail_nomem(err);
}

/* A member must be an object or missing. */
static bool report_member(
    const json_t *file, const char *name, json_t **member, struct eh2sframe_error *err)
{
	*member = json_object_get(file, name);
	return !*member || json_is_object(*member) ||
	       cmd_fail(err, EH2SFRAME_INPUT, "%s is not an object", name);
}

/* Takes any reason: a later version may have more. */
static bool report_add_refused(
    struct report_document *report, json_t *refused, struct eh2sframe_error *err)
{
	const char *reason;
	json_t *one;

	json_object_foreach(refused, reason, one)
	{
		const json_t *old = json_object_get(report->refused, reason);
		json_int_t functions = 0, bytes = 0;

		if (!json_is_object(one))
			return cmd_fail(err, EH2SFRAME_INPUT,
			    "refused.%.60s is not an object", reason);
		if (!report_add_count(old, "functions", &functions, err) ||
		    !report_add_count(one, "functions", &functions, err) ||
		    !report_add_count(old, "bytes", &bytes, err) ||
		    !report_add_count(one, "bytes", &bytes, err))
			return false;
		if (json_object_set_new(report->refused, reason,
			json_pack("{sI sI}", "functions", functions, "bytes", bytes)) < 0)
			return cmd_fail_nomem(err);
	}
	return true;
}

bool report_code_add(
    struct report_code *sum, const json_t *code, struct eh2sframe_error *err)
{
	return report_add_count(code, "with_cfi", &sum->with_cfi, err) &&
	       report_add_count(code, "covered", &sum->covered, err) &&
	       report_add_count(code, "plt_template", &sum->plt_template, err) &&
	       report_add_count(code, "derived", &sum->derived, err) &&
	       report_add_count(code, "executable", &sum->executable, err) &&
	       report_add_count(code, "outermost", &sum->outermost, err);
}

static bool report_add_counts(
    struct report_document *report, const json_t *file, struct eh2sframe_error *err)
{
	struct report_sums *sums = &report->sums;
	json_t *counts, *sizes, *code, *refused;

	return report_member(file, "counts", &counts, err) &&
	       report_member(file, "sizes", &sizes, err) &&
	       report_member(file, "code", &code, err) &&
	       report_member(file, "refused", &refused, err) &&
	       report_add_count(counts, "functions_with_cfi", &sums->functions, err) &&
	       report_add_count(counts, "functions_with_rows", &sums->with_rows, err) &&
	       report_add_count(counts, "functions_with_gaps", &sums->with_gaps, err) &&
	       report_add_count(sizes, ".eh_frame", &sums->eh_frame, err) &&
	       report_add_count(sizes, ".eh_frame_hdr", &sums->eh_frame_hdr, err) &&
	       report_add_count(sizes, ".sframe", &sums->sframe, err) &&
	       report_code_add(&sums->code, code, err) &&
	       report_add_refused(report, refused, err);
}

/* Counts a file as done, skipped or failed. A failure has no counts of a section. */
static bool report_add_outcome(
    struct report_document *report, const json_t *file, struct eh2sframe_error *err)
{
	json_int_t status = json_integer_value(json_object_get(file, "status"));
	const char *reason = json_string_value(json_object_get(file, "skipped"));
	char kind[8];

	if (!json_is_integer(json_object_get(file, "status")) || status < 0 ||
	    (status > EH2SFRAME_NO_MEMORY && status != EH2SFRAME_BUG))
		return cmd_fail(err, EH2SFRAME_INPUT, "status is not an exit status");
	report->sums.status = print_worse(report->sums.status, (int)status);
	if (status == EH2SFRAME_DONE) {
		report->sums.done++;
		/* Only what was written into a file has it. */
		report->sums.converted += json_object_get(file, "method") != NULL;
		report->sums.already += json_is_true(json_object_get(file, "already"));
		report->sums.counted += json_object_get(file, "code") != NULL;
		return report_add_counts(report, file, err);
	}
	if (status == EH2SFRAME_NOTHING) {
		report->sums.skipped++;
		return report_count_kind(
		    report->skips, reason ? reason : "nothing-to-do", err);
	}
	report->sums.failed++;
	snprintf(kind, sizeof(kind), "%d", (int)status);
	return report_count_kind(report->fails, kind, err);
}

size_t report_file_lists(const json_t *file, json_t *lists[REPORT_MAX_LISTS])
{
	static const char *const names[] = {
	    "gaps", "without_cfi", "faults", "doubts", "source_ranges"};
	json_t *source, *list;
	const char *name;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (json_is_array(list = json_object_get(file, names[i])))
			lists[n++] = list;
	json_object_foreach(json_object_get(file, "sources"), name, source)
	{
		list = json_object_get(source, "without_rows");
		if (json_is_array(list) && n < REPORT_MAX_LISTS)
			lists[n++] = list;
	}
	return n;
}

static bool report_keep(
    struct report_document *report, json_t *file, struct eh2sframe_error *err)
{
	const char *path = json_string_value(json_object_get(file, "path"));
	const bool words = json_is_string(json_object_get(file, "text"));
	struct report_entry entry = {.seq = report->n};
	json_t *lists[REPORT_MAX_LISTS];
	bool ok;

	if (!vec_reserve(&report->list, &report->cap, report->n + 1))
		return cmd_fail_nomem(err);
	entry.path = strdup(path);
	entry.words = report_file_text(file);
	ok = entry.path && (!words || entry.words);
	for (size_t i = report_file_lists(file, lists); i-- > 0;)
		entry.n_listed += json_array_size(lists[i]);
	json_object_del(file, "text");
	entry.text = ok ? report_value_dump(file) : NULL;
	if (!entry.text) {
		free(entry.path);
		free(entry.words);
		return cmd_fail_nomem(err);
	}
	report->list[report->n++] = entry;
	return true;
}

bool report_document_add(
    struct report_document *report, json_t *file, bool keep, struct eh2sframe_error *err)
{
	if (!file)
		return cmd_fail_nomem(err);
	if (!json_is_object(file))
		return cmd_fail(err, EH2SFRAME_INPUT, "not an object");
	if (!json_is_string(json_object_get(file, "path")))
		return cmd_fail(err, EH2SFRAME_INPUT, "path is not text");
	return report_add_outcome(report, file, err) &&
	       report_checks_add(&report->checks, json_object_get(file, "check"), err) &&
	       (!keep || report_keep(report, file, err));
}

/* Equal paths (from reports of different packages) keep their order of arrival. */
static int report_entry_order(const void *a, const void *b)
{
	const struct report_entry *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->seq > y->seq) - (x->seq < y->seq);
}

void report_document_sort(struct report_document *report)
{
	if (report->n)
		qsort(report->list, report->n, sizeof(*report->list), report_entry_order);
}
