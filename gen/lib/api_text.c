/* SPDX-License-Identifier: MIT */
/*
 * The public interface: text. The engine prints to a FILE, which calls a function of the
 * caller.
 */
#include "gen/lib/api.h"

#include "base/stream.h"
#include "gen/verify/lint.h"

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

/* Makes the details of a report of the result, once. */
static bool api_details_make(struct eh2sframe_result *result, struct err *err)
{
	return convert_generate(&result->conv, err) &&
	       report_details_make(result->conv.options, &result->conv.report, err);
}

bool eh2sframe_result_add_details(
    struct eh2sframe_result *result, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(result, &err) && api_details_make(result, &err);

	return api_return(ok, &err, error);
}

/* Destination of JSON. */
struct api_json {
	eh2sframe_write_fn *write;
	void *context;
};

/* jansson's order of arguments, and its 0 for success. */
static int api_write_json(const char *text, size_t size, void *context)
{
	const struct api_json *to = context;

	return to->write(to->context, text, size) ? 0 : -1;
}

/* Writes one of the two; the other is NULL. */
static bool api_json(struct eh2sframe_result *result, const struct eh2sframe_check *check,
    bool lists, enum eh2sframe_status status, struct api_json to,
    struct eh2sframe_error *error)
{
	struct report_json json = {.write = api_write_json, .context = &to};
	struct stream stream = {0};
	struct err err = {0};
	bool ok = api_given((result || check) && to.write, &err) &&
		  (!result || !lists || api_details_make(result, &err)) &&
		  stream_locale_begin(&stream, &err);

	if (ok) {
		ok = result ? report_json_result(
				  &json, &result->conv.report, (int)status, &err)
			    : report_json_check(
				  &json, &check->check, (int)status, lists, &err);
		stream_locale_end(&stream);
	}
	return api_return(ok, &err, error);
}

bool eh2sframe_result_json(struct eh2sframe_result *result, bool details,
    enum eh2sframe_status status, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error)
{
	return api_json(
	    result, NULL, details, status, (struct api_json){write, context}, error);
}

bool eh2sframe_check_json(const struct eh2sframe_check *check, bool lists,
    enum eh2sframe_status status, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error)
{
	return api_json(
	    NULL, check, lists, status, (struct api_json){write, context}, error);
}
