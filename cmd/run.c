/* SPDX-License-Identifier: MIT */
/*
 * One call for each file, one line for each failure, one exit status. A single input
 * gives its own status. Of several inputs the worst counts (print_worse).
 */
#include "cmd/run.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/batch/batch.h"
#include "cmd/report/report.h"
#include "cmd/common/fail.h"
#include "cmd/common/print.h"

/* A missing file is not the same as any other. Opening it reports that. */
static bool run_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* The name behind the last slash. *dir is its directory, or has inode 0 if there is none.
 */
static const char *run_parent(const char *path, struct stat *dir)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	int n = slash ? (int)(slash - path) + 1 : 1;

	if (snprintf(parent, sizeof(parent), "%.*s", n, slash ? path : ".") != n ||
	    stat(parent, dir) != 0)
		*dir = (struct stat){0};
	return slash ? slash + 1 : path;
}

/* Whether two names are the same file, or will be when they exist. */
static bool run_same_place(const char *a, const char *b)
{
	struct stat x, y;

	return run_same_file(a, b) ||
	       (!strcmp(run_parent(a, &x), run_parent(b, &y)) && x.st_ino &&
		   x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/* Refuses a path that would overwrite the program. */
static int run_refuse_path(const char *path, const char *what)
{
	struct eh2sframe_error error;

	cmd_fail(&error, EH2SFRAME_USAGE, "is %s; give another name", what);
	return print_error(path, &error);
}

static bool run_dump(const struct args *args, const struct eh2sframe_file *file,
    struct eh2sframe_error *error)
{
	(void)args;
	return eh2sframe_file_dump(file, print_text, stdout, error);
}

static bool run_verify(const struct args *args, const struct eh2sframe_file *file,
    struct eh2sframe_error *error)
{
	struct eh2sframe_file *cfi = NULL;
	bool ok;

	if (args->cfi_path) {
		cfi = eh2sframe_open_path(args->cfi_path, args->options, error);
		if (!cfi)
			return cmd_fail(error, error->status, "%s: %.400s",
			    args->cfi_path, error->text);
	}
	ok = eh2sframe_file_verify(file, cfi, print_text, stdout, error);
	eh2sframe_close(cfi);
	return ok;
}

static bool run_lint(const struct args *args, const struct eh2sframe_file *file,
    struct eh2sframe_error *error)
{
	return eh2sframe_file_lint(file, args->lint, print_text, stdout, error);
}

/* Runs a command that looks at the section of each file. */
static int run_each(
    const struct args *args, bool (*command)(const struct args *,
				 const struct eh2sframe_file *, struct eh2sframe_error *))
{
	int status = 0;

	for (size_t i = 0; i < args->n_paths; i++) {
		const char *path = args->paths[i];
		struct eh2sframe_error error;
		struct eh2sframe_file *file;
		bool ok;

		file = eh2sframe_open_path(path, args->options, &error);
		if (file && args->command == COMMAND_DUMP && args->n_paths > 1)
			printf("%s:\n", path);
		ok = file && command(args, file, &error);
		eh2sframe_close(file);
		if (ok)
			continue;
		print_error(path, &error);
		if (args->n_paths == 1)
			return (int)error.status;
		status = print_worse(status, (int)error.status);
	}
	return status;
}

/* Writes the JSON report, if there is one, to path (see print_open). Returns the status
 * that the run ends with. */
static int run_json(const struct args *args, struct eh2sframe_report *report,
    const char *path, int status)
{
	struct eh2sframe_error error, late;
	const char *name = path && strcmp(path, "-") != 0 ? path : NULL;
	FILE *out;
	bool ok;

	if (!report)
		return status;
	if (args->report_html) {
		ok = report_html(report, path, &error);
		eh2sframe_report_free(report);
		return ok ? status : print_worse(status, print_error(name, &error));
	}
	out = print_open(path, &error);
	ok = out && eh2sframe_report_write(report, print_text, out, &error);
	eh2sframe_report_free(report);
	if (out && !print_close(out, ok ? &error : &late))
		ok = false;
	return ok ? status : print_worse(status, print_error(name, &error));
}

/* Prints the results of a conversion, unless options forbid it. */
static bool run_print(const struct args *args, const struct eh2sframe_result *result,
    struct eh2sframe_error *error)
{
	bool inside = false;

	if (args->verbosity >= 0 && !eh2sframe_result_print(result, EH2SFRAME_TEXT_DAMAGE,
					print_lines, &inside, error))
		return false;
	if (args->verbosity > 0 && !eh2sframe_result_print(result, EH2SFRAME_TEXT_GAPS,
				       print_text, stdout, error))
		return false;
	if (args->verbosity > 0 && !eh2sframe_result_print(result, EH2SFRAME_TEXT_METHOD,
				       print_text, stdout, error))
		return false;
	return args->verbosity < 0 ||
	       eh2sframe_result_print(
		   result, EH2SFRAME_TEXT_SUMMARY, print_text, stdout, error);
}

/* Writes OUT; NULL after a failure. */
static struct eh2sframe_result *run_write(const struct args *args,
    const struct eh2sframe_file *file, struct eh2sframe_error *error)
{
	const char *out = args->paths[1];
	struct eh2sframe_result *result;

	if (args->command == COMMAND_CONVERT)
		return eh2sframe_convert_path(file, out, error);
	result = eh2sframe_convert(file, error);
	if (result &&
	    eh2sframe_result_section_path(result, args->section_addr, out, error))
		return result;
	eh2sframe_result_free(result);
	return NULL;
}

static bool run_convert(const struct args *args, struct eh2sframe_report *report,
    struct eh2sframe_error *error)
{
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	bool ok;

	file = eh2sframe_open_path(args->paths[0], args->options, error);
	if (!file)
		return false;
	if (args->command == COMMAND_REMOVE) {
		ok = eh2sframe_file_remove_path(file, args->paths[1], error);
	} else {
		result = run_write(args, file, error);
		/* Print only now: a failure prints only its own line. */
		ok = result && run_print(args, result, error);
		if (ok && report)
			ok = eh2sframe_report_add(report, result, EH2SFRAME_DONE, error);
		eh2sframe_result_free(result);
	}
	eh2sframe_close(file);
	return ok;
}

static int run_pair(const struct args *args)
{
	const char *in = args->paths[0], *out = args->paths[1];
	struct eh2sframe_report *report = NULL;
	struct eh2sframe_error error = {0}, ignored;
	bool ok = true;

	if (args->command == COMMAND_SECTION_ONLY && run_same_file(in, out))
		return run_refuse_path(out, "an input");
	if (args->json_path && run_same_file(in, args->json_path))
		return run_refuse_path(args->json_path, "an input");
	/* The report would overwrite the output that was just proven. */
	if (args->json_path && run_same_place(out, args->json_path))
		return run_refuse_path(args->json_path, "also OUT");
	if (args->json_path) {
		report = eh2sframe_report_new();
		ok = report || cmd_fail_nomem(&error);
	}
	ok = ok && run_convert(args, report, &error);
	if (!ok)
		print_error(in, &error);
	/* The JSON report also has failures. */
	if (!ok && report && !eh2sframe_report_add_failure(report, in, &error, &ignored))
		print_error(in, &ignored);
	return run_json(args, report, args->json_path, (int)error.status);
}

/* Adds one result of --report, as text on out or to the JSON report. */
static bool run_report_result(const struct args *args,
    const struct eh2sframe_result *result, enum eh2sframe_status status, FILE *out,
    struct eh2sframe_report *report, struct eh2sframe_error *error)
{
	bool inside = false;
	bool ok = report ? eh2sframe_report_add(report, result, status, error)
			 : eh2sframe_result_print(
			       result, EH2SFRAME_TEXT_REPORT, print_text, out, error);

	return ok && (args->verbosity < 0 ||
			 eh2sframe_result_print(
			     result, EH2SFRAME_TEXT_DAMAGE, print_lines, &inside, error));
}

static bool run_report_one(const struct args *args, const char *path, FILE *out,
    struct eh2sframe_report *report, struct eh2sframe_error *error)
{
	struct eh2sframe_error why = {0};
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	bool ok;

	file = eh2sframe_open_path(path, args->options, error);
	result = file ? eh2sframe_convert(file, error) : NULL;
	ok =
	    result && (args->verbosity <= 0 || eh2sframe_result_add_costs(result, error));
	if (ok && args->judge && !eh2sframe_result_check(result, &why))
		*error = why;
	ok = ok && run_report_result(args, result, why.status, out, report, error);
	/* A file with too little coverage is in the report already. */
	if (!ok && report && !eh2sframe_report_add_failure(report, path, error, &why))
		*error = why;
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	return ok && why.status == EH2SFRAME_DONE;
}

static int run_report_each(
    const struct args *args, FILE *out, struct eh2sframe_report *report)
{
	int status = 0;

	for (size_t i = 0; i < args->n_paths; i++) {
		struct eh2sframe_error error;

		if (run_report_one(args, args->paths[i], out, report, &error))
			continue;
		print_error(args->paths[i], &error);
		status = args->n_paths == 1 ? (int)error.status
					    : print_worse(status, (int)error.status);
	}
	return status;
}

static int run_report(const struct args *args)
{
	const char *path = args->report_path;
	struct eh2sframe_report *report;
	struct eh2sframe_error error;
	FILE *out;
	int status;

	for (size_t i = 0; path && i < args->n_paths; i++)
		if (run_same_file(path, args->paths[i]))
			return run_refuse_path(path, "an input");
	if (args->merge)
		return report_merge(args);
	if (args->report_json) {
		report = eh2sframe_report_new();
		if (!report) {
			cmd_fail_nomem(&error);
			return print_error(NULL, &error);
		}
		status = run_report_each(args, NULL, report);
		return run_json(args, report, path, status);
	}
	out = print_open(path, &error);
	if (!out)
		return print_error(path, &error);
	status = run_report_each(args, out, NULL);
	if (!print_close(out, &error))
		status = print_worse(status, print_error(path, &error));
	return status;
}

int run_command(const struct args *args)
{
	switch (args->command) {
	case COMMAND_HELP:
		fputs(args_help, stdout);
		return 0;
	case COMMAND_VERSION:
		printf("eh2sframe %s\n", eh2sframe_version());
		return 0;
	case COMMAND_CONVERT:
	case COMMAND_SECTION_ONLY:
	case COMMAND_REMOVE:
		return run_pair(args);
	case COMMAND_REPORT:
		return run_report(args);
	case COMMAND_BATCH:
		return batch_run(args);
	case COMMAND_DUMP:
		return run_each(args, run_dump);
	case COMMAND_VERIFY:
		return run_each(args, run_verify);
	case COMMAND_LINT:
		return run_each(args, run_lint);
	}
	return EH2SFRAME_BUG;
}
