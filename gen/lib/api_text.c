/* SPDX-License-Identifier: MIT */
/*
 * The public interface: text. The engine prints to a FILE, which calls a function of the
 * caller.
 */
#include "gen/lib/api.h"

#include <stdlib.h>
#include <string.h>

#include "gen/report/inspect.h"
#include "gen/verify/lint.h"
#include "base/stream.h"

static bool api_print(
    const struct conversion *conv, enum eh2sframe_text what, FILE *out, struct err *err)
{
	switch (what) {
	case EH2SFRAME_TEXT_SUMMARY:
		report_summary(&conv->report, out);
		return true;
	case EH2SFRAME_TEXT_REPORT:
		report_text(&conv->report, conv->options->verbosity > 0, out);
		return true;
	case EH2SFRAME_TEXT_GAPS:
		report_gaps(&conv->report, "  ", out);
		return true;
	case EH2SFRAME_TEXT_METHOD:
		/* Without an insertion there is no method. */
		if (conv->report.plan)
			report_method(conv->report.plan, "  ", out);
		return true;
	case EH2SFRAME_TEXT_DAMAGE:
		report_damage(&conv->report, out);
		return true;
	case EH2SFRAME_TEXT_FUNCTIONS:
		if (!conv->report.details.made)
			return err_set(err, ERR_USAGE,
			    "this text needs eh2sframe_result_add_details");
		report_functions(&conv->report, out);
		return true;
	}
	return err_set(err, ERR_USAGE, "unknown text %d", (int)what);
}

bool api_text_begin(bool all_given, struct stream *stream, eh2sframe_write_fn *write,
    void *context, struct err *err)
{
	return api_given(all_given && write, err) &&
	       stream_begin(stream, write, context, err);
}

bool eh2sframe_result_print(const struct eh2sframe_result *result,
    enum eh2sframe_text what, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok =
	    api_text_begin(result, &stream, write, context, &err) &&
	    stream_end(&stream, api_print(&result->conv, what, stream.file, &err), &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_file_dump(const struct eh2sframe_file *file, eh2sframe_write_fn *write,
    void *context, struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok = api_text_begin(file, &stream, write, context, &err) &&
		  stream_end(&stream, report_dump(&file->image, stream.file, &err), &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_file_verify(const struct eh2sframe_file *file,
    const struct eh2sframe_file *cfi, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok = api_text_begin(file, &stream, write, context, &err) &&
		  stream_end(&stream,
		      report_verify(&file->image, &(cfi ? cfi : file)->image,
			  &file->options, stream.file, &err),
		      &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_file_lint(const struct eh2sframe_file *file, const char *reader,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok =
	    api_given(file && reader && write, &err) &&
	    stream_begin(&stream, write, context, &err) &&
	    stream_end(&stream,
		report_lint(&file->image, reader, &file->options, stream.file, &err),
		&err);

	return api_return(ok, &err, error);
}

/* jansson's order of arguments, and its 0 for success. */
static int api_write_json(const char *text, size_t size, void *context)
{
	struct eh2sframe_report *report = context;

	return report->write(report->context, text, size) ? 0 : -1;
}

struct eh2sframe_report *eh2sframe_report_new(
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error)
{
	struct err err = {0};
	struct eh2sframe_report *report = NULL;
	bool ok = api_given(write, &err);

	if (ok) {
		report = calloc(1, sizeof(*report));
		ok = report || err_set_nomem(&err);
	}
	if (ok) {
		report->write = write;
		report->context = context;
		report->json =
		    (struct report_json){.write = api_write_json, .context = report};
		ok = report_json_begin(&report->json, &err);
	}
	if (!api_return(ok, &err, error)) {
		free(report);
		return NULL;
	}
	return report;
}

void eh2sframe_report_free(struct eh2sframe_report *report)
{
	free(report);
}

bool eh2sframe_report_add(struct eh2sframe_report *report,
    const struct eh2sframe_result *result, enum eh2sframe_status status,
    struct eh2sframe_error *error)
{
	struct stream stream = {0};
	struct err err = {0};
	bool ok = api_given(report && result, &err) && stream_locale_begin(&stream, &err);

	if (ok) {
		ok = report_json_add(
		    &report->json, &result->conv.report, (int)status, &err);
		stream_locale_end(&stream);
	}
	return api_return(ok, &err, error);
}

bool eh2sframe_report_add_check(struct eh2sframe_report *report,
    const struct eh2sframe_check *check, bool lists, enum eh2sframe_status status,
    struct eh2sframe_error *error)
{
	struct stream stream = {0};
	struct err err = {0};
	bool ok = api_given(report && check, &err) && stream_locale_begin(&stream, &err);

	if (ok) {
		ok = report_json_check(
		    &report->json, &check->check, (int)status, lists, &err);
		stream_locale_end(&stream);
	}
	return api_return(ok, &err, error);
}

bool eh2sframe_report_add_failure(struct eh2sframe_report *report, const char *path,
    const struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok =
	    api_given(report && path && why, &err) &&
	    report_json_fail(&report->json, path, (int)why->status, why->text, &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_report_end(struct eh2sframe_report *report, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(report, &err) && report_json_end(&report->json, &err);

	return api_return(ok, &err, error);
}
