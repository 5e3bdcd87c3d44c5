/* SPDX-License-Identifier: MIT */
/* Reads reports, of a batch or of single files, and writes the report that a single run
 * over all of their files would have written. */
#include <stdio.h>
#include <string.h>

#include "base/program/print.h"
#include "cmd/report/reading.h"
#include "cmd/report/report.h"

static bool merge_file(void *context, json_t *file, struct eh2sframe_error *err)
{
	return report_document_add(context, file, true, err);
}

/* Only a summary has these. The rest is added up again from the files, so a wrong summary
 * does no harm. */
static bool merge_apart(void *context, json_t *summary, struct eh2sframe_error *err)
{
	struct report_document *report = context;
	struct report_apart *apart = &report->apart;

	if (!json_is_object(summary))
		return cmd_fail(err, EH2SFRAME_INPUT, "summary is not an object");
	return report_add_count(summary, "not_elf", &apart->not_elf, err) &&
	       report_add_count(summary, "mount_points", &apart->mount_points, err) &&
	       report_add_count(summary, "excluded", &apart->excluded, err);
}

/* A failure is about *at. Reads everything before it writes anything. */
static bool merge_all(const struct args *args, struct report_document *report,
    const char **at, struct eh2sframe_error *err)
{
	const struct report_reading to = {
	    .file = merge_file, .summary = merge_apart, .context = report};
	struct print_out out;

	*at = NULL;
	if (!report_document_init(report, err))
		return false;
	for (size_t i = 0; i < args->n_paths; i++) {
		*at = args->paths[i];
		if (!report_read(*at, &to, err))
			return false;
	}
	report_document_sort(report);
	*at = report_document_repeats(report);
	if (*at)
		return cmd_fail(err, EH2SFRAME_INPUT,
		    "is twice in the reports, with the same counts; give each report "
		    "once");
	*at = args->report_path;
	if (print_open(*at, true, &out, err))
		return report_document_write(report, &out, args->html, err);
	*at = out.path;
	return false;
}

int report_merge(const struct args *args)
{
	struct report_document report = {0};
	struct eh2sframe_error err = {0};
	const char *at;
	bool ok = merge_all(args, &report, &at, &err);

	if (!ok)
		print_error(at, &err);
	/* It would mix with a document on standard output. */
	else if (args->report_path && strcmp(args->report_path, "-") != 0 &&
		 args->verbosity >= 0)
		report_print_summary(&report, NULL, stdout);
	report_document_deinit(&report);
	return ok ? EH2SFRAME_DONE : (int)err.status;
}
