/* SPDX-License-Identifier: MIT */
/* Reads reports, of a batch or of single files, and writes the report that a single run
 * over all of their files would have written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* A report as the file that it is. */
struct merge_input {
	dev_t dev;
	ino_t ino;
	const char *path;
};

static int merge_order(const void *a, const void *b)
{
	const struct merge_input *x = a, *y = b;

	return x->dev != y->dev ? (x->dev > y->dev) - (x->dev < y->dev)
				: (x->ino > y->ino) - (x->ino < y->ino);
}

/* Fails when a file is given twice: what it counts would count twice. It is then *at. */
static bool merge_once(
    const struct args *args, const char **at, struct eh2sframe_error *err)
{
	struct merge_input *inputs = calloc(args->n_paths, sizeof(*inputs));
	struct stat st;
	size_t n = 0;

	if (!inputs)
		return cmd_fail_nomem(err);
	for (size_t i = 0; i < args->n_paths; i++)
		if (stat(args->paths[i], &st) == 0 && S_ISREG(st.st_mode))
			inputs[n++] =
			    (struct merge_input){st.st_dev, st.st_ino, args->paths[i]};
	qsort(inputs, n, sizeof(*inputs), merge_order);
	for (size_t i = 1; i < n && !*at; i++)
		if (merge_order(&inputs[i - 1], &inputs[i]) == 0)
			*at = inputs[i].path;
	free(inputs);
	return !*at || cmd_fail(err, EH2SFRAME_USAGE,
			   "is given twice, and would count twice; give it once");
}

/* A failure is about *at. Reads everything before it writes anything. */
static bool merge_all(const struct args *args, struct report_document *report,
    const char **at, struct eh2sframe_error *err)
{
	const struct report_reading to = {
	    .file = merge_file, .summary = merge_apart, .context = report};
	struct print_out out;

	*at = NULL;
	if (!merge_once(args, at, err) || !report_document_init(report, err))
		return false;
	for (size_t i = 0; i < args->n_paths; i++) {
		*at = args->paths[i];
		if (!report_read(*at, &to, err))
			return false;
	}
	report_document_sort(report);
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
	/* A summary would mix with a document on standard output. */
	else if (args->report_path && strcmp(args->report_path, "-") != 0 &&
		 args->verbosity >= 0)
		report_print_summary(&report, NULL, stdout);
	report_document_deinit(&report);
	return ok ? EH2SFRAME_DONE : (int)err.status;
}
