/* SPDX-License-Identifier: MIT */
/*
 * The public interface: everything in words. What prints is written for a FILE, which
 * here is one that leads to a function of the caller (base/stream.h).
 */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

#include "gen/report/inspect.h"
#include "gen/verify/lint.h"
#include "base/stream.h"

static bool api_print(
    struct conversion *conv, enum eh2sframe_text what, FILE *out, struct err *err)
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
		/* Nothing, where nothing was inserted. */
		if (conv->report.plan)
			report_method(conv->report.plan, "  ", out);
		return true;
	case EH2SFRAME_TEXT_DAMAGE:
		report_damage(&conv->report, out);
		return true;
	}
	return err_set(err, ERR_USAGE, "there is no text %d", (int)what);
}

bool eh2sframe_text(struct eh2sframe *file, enum eh2sframe_text what,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok;

	/* After writing the model may be gone, but what is told of it is not. */
	ok = api_given(file && write, &err) &&
	     (file->conv.report.source || convert_generate(&file->conv, &err)) &&
	     stream_begin(&stream, write, context, &err);
	if (ok) {
		ok = api_print(&file->conv, what, stream.file, &err);
		ok = stream_end(&stream, ok, &err);
	}
	return api_tell(ok, &err, error);
}

bool eh2sframe_dump(struct eh2sframe *file, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok =
	    api_given(file && write, &err) && stream_begin(&stream, write, context, &err);

	if (ok)
		ok = stream_end(&stream,
		    command_dump(convert_opened(&file->conv), stream.file, &err), &err);
	return api_tell(ok, &err, error);
}

bool eh2sframe_verify(struct eh2sframe *file, struct eh2sframe *cfi,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok =
	    api_given(file && write, &err) && stream_begin(&stream, write, context, &err);

	if (ok) {
		ok = command_verify(convert_opened(&file->conv),
		    convert_opened(&(cfi ? cfi : file)->conv), &file->options,
		    stream.file, &err);
		ok = stream_end(&stream, ok, &err);
	}
	return api_tell(ok, &err, error);
}

bool eh2sframe_lint(struct eh2sframe *file, const char *consumer,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error)
{
	static const struct {
		const char *name;
		unsigned int consumers;
	} known[] = {
	    {"kernel", LINT_KERNEL},
	    {"glibc", LINT_GLIBC},
	    {"libsframe", LINT_LIBSFRAME},
	    {"all", LINT_ALL},
	};
	struct stream stream;
	struct err err = {0};
	size_t i = 0;
	bool ok;

	if (!api_given(file && consumer && write, &err))
		return api_tell(false, &err, error);
	while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i].name, consumer))
		i++;
	if (i == sizeof(known) / sizeof(known[0])) {
		err_set(&err, ERR_USAGE, "no reader %s is known", consumer);
		return api_tell(false, &err, error);
	}
	ok = stream_begin(&stream, write, context, &err);
	if (ok) {
		ok = command_lint(convert_opened(&file->conv), known[i].consumers,
		    &file->options, stream.file, &err);
		ok = stream_end(&stream, ok, &err);
	}
	return api_tell(ok, &err, error);
}

struct eh2sframe_report *eh2sframe_report_new(void)
{
	struct eh2sframe_report *report = calloc(1, sizeof(*report));
	struct err ignored = {0};

	if (report && report_json_begin(&report->json, &ignored))
		return report;
	free(report);
	return NULL;
}

void eh2sframe_report_free(struct eh2sframe_report *report)
{
	if (report)
		report_json_deinit(&report->json);
	free(report);
}

bool eh2sframe_report_add(struct eh2sframe_report *report, const struct eh2sframe *file,
    enum eh2sframe_status status, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok;

	if (!api_given(report && file, &err))
		ok = false;
	else if (!file->conv.report.source)
		ok = err_set(&err, ERR_USAGE, "nothing was made of the file yet");
	else
		ok = report_json_add(&report->json, &file->conv.report, (int)status,
		    file->options.verbosity > 0, &err);
	return api_tell(ok, &err, error);
}

bool eh2sframe_report_add_failure(struct eh2sframe_report *report, const char *path,
    const struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok =
	    api_given(report && path && why, &err) &&
	    report_json_fail(&report->json, path, (int)why->status, why->text, &err);

	return api_tell(ok, &err, error);
}

/* jansson's order of arguments, and its 0 for success. */
static int api_write_json(const char *text, size_t size, void *context)
{
	const struct stream *stream = context;

	return stream->write(stream->context, text, size) ? 0 : -1;
}

bool eh2sframe_report_write(const struct eh2sframe_report *report,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error)
{
	struct stream stream = {.write = write, .context = context};
	struct err err = {0};
	bool ok = api_given(report && write, &err) && stream_locale_begin(&stream, &err);

	if (ok) {
		ok = report_json_write(&report->json, api_write_json, &stream, &err);
		stream_locale_end(&stream);
	}
	return api_tell(ok, &err, error);
}
