/* SPDX-License-Identifier: MIT */
/* Calls of the library. */
#include "cmd/batch/engine.h"

#include "cmd/report/report.h"

/* The object of the only file in a report. */
static bool engine_report(
    const struct eh2sframe_result *result, json_t **object, struct eh2sframe_error *error)
{
	struct eh2sframe_report *report = eh2sframe_report_new();
	json_t *document = NULL;

	if (!report)
		cmd_fail_nomem(error);
	else if (eh2sframe_report_add(report, result, EH2SFRAME_DONE, error))
		document = batch_report_document(report, error);
	*object = json_incref(json_array_get(json_object_get(document, "files"), 0));
	json_decref(document);
	eh2sframe_report_free(report);
	return *object != NULL;
}

/* The word of the report for it. */
static const char *engine_skip(const struct eh2sframe_file *file)
{
	switch (eh2sframe_file_skip(file)) {
	case EH2SFRAME_SKIP_HAS_SFRAME:
		return "has-sframe";
	case EH2SFRAME_SKIP_NO_CFI:
		return "no-cfi";
	case EH2SFRAME_SKIP_DEBUG_ONLY:
		return "debug-only";
	case EH2SFRAME_SKIP_NOT:
		break;
	}
	return NULL;
}

struct eh2sframe_file *engine_open(
    const struct batch_input *input, const char **skip, struct eh2sframe_error *error)
{
	struct eh2sframe_file *file =
	    eh2sframe_open_fd(input->fd, input->path, input->options, error);

	*skip = file ? engine_skip(file) : NULL;
	return file;
}

bool engine_convert(const struct eh2sframe_file *file, const char *out, json_t **report,
    struct eh2sframe_error *error)
{
	struct eh2sframe_result *result = eh2sframe_convert_path(file, out, error);
	bool ok = result && engine_report(result, report, error);

	eh2sframe_result_free(result);
	return ok;
}
