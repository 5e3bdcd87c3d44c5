/* SPDX-License-Identifier: MIT */
/* Calls of the library. */
#include "cmd/batch/engine.h"

#include "cmd/report/report.h"

/* The object of the only file in a report. */
static bool engine_report(
    struct eh2sframe *file, json_t **object, struct eh2sframe_error *error)
{
	struct eh2sframe_report *report = eh2sframe_report_new();
	json_t *document = NULL;

	if (!report)
		cmd_fail_nomem(error);
	else if (eh2sframe_report_add(report, file, EH2SFRAME_DONE, error))
		document = batch_report_document(report, error);
	*object = json_incref(json_array_get(json_object_get(document, "files"), 0));
	json_decref(document);
	eh2sframe_report_free(report);
	return *object != NULL;
}

/* The word of the report for it. */
static const char *engine_lack(const struct eh2sframe *file)
{
	switch (eh2sframe_lack(file)) {
	case EH2SFRAME_LACK_HAS_SFRAME:
		return "has-sframe";
	case EH2SFRAME_LACK_NO_CFI:
		return "no-cfi";
	case EH2SFRAME_LACK_DEBUG_ONLY:
		return "debug-only";
	case EH2SFRAME_LACK_NOTHING:
		break;
	}
	return NULL;
}

struct eh2sframe *engine_open(
    const struct batch_input *input, const char **skip, struct eh2sframe_error *error)
{
	struct eh2sframe *file =
	    eh2sframe_open_fd(input->fd, input->path, input->options, error);

	*skip = file ? engine_lack(file) : NULL;
	return file;
}

bool engine_convert(struct eh2sframe *file, const char *out, json_t **report,
    struct eh2sframe_error *error)
{
	return eh2sframe_write_path(file, out, error) &&
	       engine_report(file, report, error);
}
