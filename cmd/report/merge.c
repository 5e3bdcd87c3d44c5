/* SPDX-License-Identifier: MIT */
/* Reads reports, of a batch or of single files, and writes the report that a single run
 * over all of their files would have written. */
#include <stdio.h>
#include <string.h>

#include "cmd/common/print.h"
#include "cmd/report/reading.h"
#include "cmd/report/report.h"

/* Only a summary has these. The rest is added up again from the files, so a wrong summary
 * does no harm. */
static bool merge_apart(
    struct report_apart *apart, json_t *summary, struct eh2sframe_error *err)
{
	if (!summary)
		return true;
	if (!json_is_object(summary))
		return cmd_fail(err, EH2SFRAME_INPUT, "summary is not an object");
	return report_add_count(summary, "not_elf", &apart->not_elf, err) &&
	       report_add_count(summary, "mount_points", &apart->mount_points, err) &&
	       report_add_count(summary, "excluded", &apart->excluded, err);
}

static bool merge_document(
    struct report_document *report, json_t *document, struct eh2sframe_error *err)
{
	const char *tool = json_string_value(json_object_get(document, "tool"));
	json_t *files = json_object_get(document, "files"), *file;
	size_t i;

	if (!tool || strcmp(tool, "eh2sframe") != 0 || !json_is_array(files))
		return cmd_fail(err, EH2SFRAME_INPUT,
		    "not a report of this program: it needs the tool \"eh2sframe\" and "
		    "files");
	if (!report_read_schema(json_object_get(document, "schema"), err))
		return false;
	json_array_foreach(files, i,
	    file) if (!report_document_add(report, file, true, err)) return cmd_fail(err,
	    err->status, "files[%zu]: %.400s", i, err->text);
	return merge_apart(&report->apart, json_object_get(document, "summary"), err);
}

/* Refuse a repeated member: programs would read it differently. */
static bool merge_path(
    struct report_document *report, const char *path, struct eh2sframe_error *err)
{
	FILE *in = fopen(path, "re");
	json_error_t why;
	json_t *document;
	bool ok;

	if (!in)
		return cmd_fail_errno(err, "cannot open");
	document = json_loadf(in, JSON_REJECT_DUPLICATES, &why);
	if (document)
		ok = merge_document(report, document, err);
	else if (ferror(in))
		ok = cmd_fail(err, EH2SFRAME_IO, "cannot read");
	else
		ok = cmd_fail(err, EH2SFRAME_INPUT, "not JSON: line %d, column %d: %s",
		    why.line, why.column, why.text);
	json_decref(document);
	fclose(in);
	return ok || report_blame(err);
}

/* A failure is about *at. Reads everything before it writes anything. */
static bool merge_all(const struct args *args, struct report_document *report,
    const char **at, struct eh2sframe_error *err)
{
	struct print_out out;

	*at = NULL;
	if (!report_document_init(report, err))
		return false;
	for (size_t i = 0; i < args->n_paths; i++) {
		*at = args->paths[i];
		if (!merge_path(report, *at, err))
			return false;
	}
	report_document_sort(report);
	*at = args->report_path;
	if (print_open(*at, true, &out, err))
		return report_document_write(report, &out, args->report_html, err);
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
	else if (args->report_path && args->verbosity >= 0)
		report_print_summary(&report, NULL, stdout);
	report_document_deinit(&report);
	return ok ? EH2SFRAME_DONE : (int)err.status;
}
