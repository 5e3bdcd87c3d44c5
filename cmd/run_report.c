/* SPDX-License-Identifier: MIT */
/* report and check: the coverage of a conversion, and the verdicts of the code on the CFI,
 * as text or as a document. */
#include <stdio.h>

#include "base/program/print.h"
#include "cmd/report/file_table.h"
#include "cmd/report/gate.h"
#include "cmd/run.h"

/* Destinations of results. */
struct run_output {
	FILE *text;
	struct report_files *files; /* NULL: as text */
	struct report_gate gate;
	bool lines; /* as text: one for each file, of the table */
	struct report_table table;
};

/* Prints the text of one result; with a table, its line comes at the end. */
static bool run_report_text(const struct args *args,
    const struct eh2sframe_result *result, const struct run_output *output,
    struct eh2sframe_error *error)
{
	return output->lines ||
	       eh2sframe_result_print(result,
		   args->functions ? EH2SFRAME_TEXT_FUNCTIONS : EH2SFRAME_TEXT_REPORT,
		   print_text, output->text, error);
}

/* Adds the line of one result. */
static bool run_report_line(const struct eh2sframe_error *why,
    struct eh2sframe_result *result, const char *path, struct run_output *output,
    struct eh2sframe_error *error)
{
	json_t *file = report_of_result(result, false, error);
	bool ok =
	    file && report_table_add(&output->table, path, (int)why->status, file, error);

	json_decref(file);
	return ok;
}

/* Adds one result of a report, and what is wrong with it. */
static bool run_report_result(const struct args *args, struct eh2sframe_result *result,
    const char *path, const struct eh2sframe_error *why, struct run_output *output,
    struct eh2sframe_error *error)
{
	bool inside = false;
	bool ok = output->files
		      ? report_files_add(output->files, result, why->status, error)
		      : run_report_text(args, result, output, error);

	return ok &&
	       (!output->lines || run_report_line(why, result, path, output, error)) &&
	       (args->verbosity < 0 ||
		   eh2sframe_result_print(
		       result, EH2SFRAME_TEXT_DAMAGE, print_lines, &inside, error));
}

/* The file is in the report, however it is judged. */
static void run_report_judge(const struct args *args, struct eh2sframe_result *result,
    struct run_output *output, struct eh2sframe_error *why)
{
	struct eh2sframe_error worse;

	if (args->judge && eh2sframe_result_check(result, why))
		why->status = EH2SFRAME_DONE;
	if (!report_gate_judge_result(&output->gate, result, &worse) && !why->status)
		*why = worse;
}

static bool run_note_patterns(const struct args *args, struct eh2sframe_result *result,
    struct eh2sframe_error *error)
{
	json_t *file;

	if (!args->patterns->n)
		return true;
	file = report_of_result(result, false, error);
	if (!file)
		return false;
	cmd_patterns_note(args->patterns, file);
	json_decref(file);
	return true;
}

static bool run_report_one(const struct args *args, const char *path,
    struct run_output *output, struct eh2sframe_error *error)
{
	struct eh2sframe_error why = {0};
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	bool ok;

	file = eh2sframe_open_path(path, args->options, error);
	result = file ? eh2sframe_convert(file, NULL, error) : NULL;
	if (!result && error->status == EH2SFRAME_NOTHING &&
	    !report_gate_judge_bare(&output->gate, path, &why))
		*error = why;
	/* The line of a table has nothing of the details. */
	ok = result && run_note_patterns(args, result, error) &&
	     (output->lines || eh2sframe_result_add_details(result, error));
	if (ok)
		run_report_judge(args, result, output, &why);
	if (ok && why.status)
		*error = why;
	ok = ok && run_report_result(args, result, path, &why, output, error);
	/* A file with too little coverage is in the report already. */
	if (!ok && output->files && !report_files_fail(output->files, path, error, &why))
		*error = why;
	if (!ok && output->lines &&
	    !report_table_add(&output->table, path, (int)error->status, NULL, &why))
		*error = why;
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	return ok && why.status == EH2SFRAME_DONE;
}

/* Adds the findings to the report, however they are judged. */
static bool run_check_result(const struct eh2sframe_check *check,
    struct run_output *output, struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	if (report_gate_judge_check(&output->gate, check, why))
		why->status = EH2SFRAME_DONE;
	return output->files
		   ? report_files_add_check(output->files, check, why->status, error)
		   : eh2sframe_check_print(check, print_text, output->text, error);
}

static bool run_check_one(const struct args *args, const char *path,
    struct run_output *output, struct eh2sframe_error *error)
{
	struct eh2sframe_file *file = eh2sframe_open_path(path, args->options, error);
	struct eh2sframe_check *check = file ? eh2sframe_check_file(file, error) : NULL;
	struct eh2sframe_error why = {0};
	bool ok = check && run_check_result(check, output, &why, error);

	if (ok && why.status)
		*error = why;
	/* A file that contradicts its code is in the report already. */
	if (!ok && output->files && !report_files_fail(output->files, path, error, &why))
		*error = why;
	eh2sframe_check_free(check);
	eh2sframe_close(file);
	return ok && why.status == EH2SFRAME_DONE;
}

/* Opens all that is written to and compared with, before the work. Sets *at to what a
 * failure is about. */
static bool run_report_open(const struct args *args, struct run_output *output,
    struct print_out *out, struct report_files *files, const char **at,
    struct eh2sframe_error *error)
{
	const bool document = args->json || args->html;

	*at = args->baseline;
	if (!report_gate_open(&output->gate, args, error))
		return false;
	output->lines = args_has_table(args);
	if (!print_open(args->report_path, true, out, error)) {
		*at = out->path;
		return false;
	}
	*at = out->path;
	output->text = out->file;
	if (!document) {
		print_start(out);
		return true;
	}
	output->files = files;
	if (report_files_begin(files, out, args->html, error))
		return true;
	report_files_deinit(files);
	print_close(out, false, error);
	return false;
}

int run_report(const struct args *args)
{
	const char *path = args->report_path, *at;
	struct report_files files = {0};
	struct run_output output = {0};
	struct eh2sframe_error error;
	struct print_out out = {0};
	int status;

	if (path && run_is_input(args, args->n_paths, path))
		return run_refuse_path(path, "an input");
	if (args->verb == VERB_MERGE)
		return report_merge(args);
	if (args->verb == VERB_DIFF)
		return report_diff(args);
	if (!run_report_open(args, &output, &out, &files, &at, &error)) {
		report_gate_deinit(&output.gate);
		return print_error(at, &error);
	}
	status = run_each(
	    args, &output, args->verb == VERB_CHECK ? run_check_one : run_report_one);
	if (output.lines)
		report_table_print(&output.table, output.text);
	if (output.files ? !report_files_end(&files, &error)
			 : !print_close(&out, true, &error))
		status = print_worse(status, print_error(out.path, &error));
	status =
	    print_worse(status, report_gate_print(&output.gate, args->verbosity < 0));
	report_gate_deinit(&output.gate);
	report_table_deinit(&output.table);
	return status;
}
