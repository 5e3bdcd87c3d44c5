/* SPDX-License-Identifier: MIT */
/*
 * One call for each file, one line for each failure, one exit status. A single input
 * gives its own status. Of several inputs the worst counts (print_worse).
 */
#include "cmd/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "cmd/archive/archive.h"
#include "cmd/batch/batch.h"
#include "base/program/fail.h"
#include "base/program/print.h"
#include "base/program/temporary.h"
#include "cmd/report/gate.h"

/* A device or pipe cannot appear whole or not at all, and nothing could be proven there. */
static int run_refuse_stdout(const char *out)
{
	struct eh2sframe_error error = {EH2SFRAME_USAGE,
	    "OUT cannot be standard output, because the program proves the written file; "
	    "name a file, and read that"};

	return print_error(out, &error);
}

int run_each(const struct args *args, struct run_output *output, run_each_fn *one)
{
	size_t nothing = 0;
	int status = 0;

	for (size_t i = 0; i < args->n_paths; i++) {
		struct eh2sframe_error error;

		if (one(args, args->paths[i], output, &error))
			continue;
		print_error(args->paths[i], &error);
		nothing += error.status == EH2SFRAME_NOTHING;
		status = print_worse(status, (int)error.status);
	}
	/* A run that looked at nothing has not found that all is well. */
	if (nothing == args->n_paths)
		status = EH2SFRAME_NOTHING;
	return print_worse(
	    status, cmd_patterns_judge(args->patterns, args->verbosity < 0));
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

/* Runs dump, verify and lint, which look at the section that a file has. */
static bool run_inspect(const struct args *args, const char *path,
    struct run_output *output, struct eh2sframe_error *error)
{
	struct eh2sframe_file *file = eh2sframe_open_path(path, args->options, error);
	bool ok;

	(void)output;
	if (file && args->verb == VERB_DUMP && args->n_paths > 1) {
		plain_print(path, stdout);
		puts(":");
	}
	if (args->verb == VERB_DUMP)
		ok = file && eh2sframe_file_dump(file, print_text, stdout, error);
	else if (args->verb == VERB_LINT)
		ok =
		    file && eh2sframe_file_lint(file, args->reader ? args->reader : "all",
				print_text, stdout, error);
	else
		ok = file && run_verify(args, file, error);
	eh2sframe_close(file);
	return ok;
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
    const struct eh2sframe_file *file, struct report_gate *gate,
    struct eh2sframe_error *error)
{
	const char *out = args->paths[1];
	struct eh2sframe_result *result;
	struct eh2sframe_error worse;
	bool ok;

	if (args->verb == VERB_CONVERT && !args->baseline)
		return eh2sframe_convert(file, out, error);
	result = eh2sframe_convert(file, NULL, error);
	if (!result && error->status == EH2SFRAME_NOTHING &&
	    !report_gate_judge_bare(gate, args->paths[0], &worse))
		*error = worse;
	ok = result && report_gate_judge_result(gate, result, error);
	if (args->verb == VERB_CONVERT)
		ok = ok && eh2sframe_result_write_path(result, out, error);
	else
		ok = ok &&
		     eh2sframe_result_section_path(result, args->address, out, error);
	if (ok)
		return result;
	eh2sframe_result_free(result);
	return NULL;
}

/* The report of a conversion (--report-file). */
struct run_report {
	struct report_gate gate;
	struct print_out out;
	bool wanted;
	bool failed; /* to write it, and why */
	struct eh2sframe_error error;
};

/* Writes the report: of a result, or NULL and why there is none. */
static void run_report_write(const struct args *args, struct run_report *report,
    struct eh2sframe_result *result, const struct eh2sframe_error *why)
{
	if (!report->wanted)
		return;
	report->wanted = false;
	report->failed =
	    !report_single(&report->out, result, args->paths[0], why, &report->error);
}

/* *done when OUT is new; a failure after that is one of telling. */
static bool run_convert(const struct args *args, struct run_report *report, bool *done,
    struct eh2sframe_error *error)
{
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	bool ok;

	file = eh2sframe_open_path(args->paths[0], args->options, error);
	if (!file)
		return false;
	if (args->verb == VERB_REMOVE) {
		ok = eh2sframe_file_remove_path(file, args->paths[1], error);
	} else {
		result = run_write(args, file, &report->gate, error);
		*done = result != NULL;
		if (*done)
			temporary_converted();
		if (*done)
			run_report_write(args, report, result, NULL);
		/* Print only now: a failure prints one line, its own. */
		ok = *done && run_print(args, result, error);
		eh2sframe_result_free(result);
	}
	eh2sframe_close(file);
	return ok;
}

/* Ends a conversion, as far as it is told. Returns the exit status. */
static int run_tell(
    const struct args *args, struct run_report *report, bool done, int status)
{
	struct eh2sframe_error error;
	const char *path = report->out.path;

	if (report->failed)
		status = done ? print_late(status, "converted", path, &report->error)
			      : print_worse(status, print_error(path, &report->error));
	status =
	    print_worse(status, report_gate_print(&report->gate, args->verbosity < 0));
	report_gate_deinit(&report->gate);
	if (done && !print_end(&error))
		status = print_late(status, "converted", NULL, &error);
	return status;
}

/* True if no file would take the place of another. */
static bool run_apart(const struct args *args, int *status)
{
	const char *out = args->paths[1];

	/* A program may be converted in its place. */
	if (run_is_input(args, args->verb == VERB_SECTION, out))
		*status = run_refuse_path(out, "an input");
	else if (args->json_path && run_is_input(args, 1, args->json_path))
		*status = run_refuse_path(args->json_path, "an input");
	/* The report would be written over the output that has just been proven. */
	else if (args->json_path && run_same_place(out, args->json_path))
		*status = run_refuse_path(args->json_path, "also OUT");
	return *status == EH2SFRAME_DONE;
}

/* Runs the verb on the members of an archive, as on the files of a tree. False: the first path is none. */
static bool run_archive(const struct args *args, int *status)
{
	struct args as_tree = *args;
	struct eh2sframe_error error;
	struct archive archive;

	as_tree.tree = true;
	if (!archive_open(-1, args->paths[0], &archive, &error)) {
		*status = print_error(args->paths[0], &error);
	} else if (!archive.bytes) {
		archive_close(&archive);
		return false;
	} else if (!eh2sframe_options_set(
		       args->options, "allow-unmatched", NULL, &error)) {
		/* A pattern need not match in each member, so it may match in none. */
		*status = print_error(NULL, &error);
	} else if (args->cfi_path || args->linked_only) {
		cmd_fail(&error, EH2SFRAME_USAGE,
		    "--cfi, --derive and --code are not for archives; link the members, "
		    "or extract one");
		*status = print_error(args->paths[0], &error);
	} else {
		*status = batch_run(&as_tree, &archive);
	}
	archive_close(&archive);
	return true;
}

static int run_pair(const struct args *args)
{
	const char *in = args->paths[0];
	struct run_report report = {.wanted = args->json_path};
	struct eh2sframe_error error = {0};
	bool done = false;
	int status = 0;

	if (!run_apart(args, &status) ||
	    (args->verb != VERB_SECTION && run_archive(args, &status)))
		return status;
	/* SIGPIPE shows as a failed write, after OUT is new. */
	signal(SIGPIPE, SIG_IGN);
	if (args->verb != VERB_REMOVE && args->verbosity >= 0 && !print_can(&error))
		return print_error(NULL, &error);
	/* Reads and opens what there is beside IN and OUT. */
	if (!report_gate_open(&report.gate, args, &error))
		status = print_error(args->baseline, &error);
	else if (report.wanted && !print_open(args->json_path, true, &report.out, &error))
		status = print_error(report.out.path, &error);
	if (status) {
		report_gate_deinit(&report.gate);
		return status;
	}
	if (!run_convert(args, &report, &done, &error))
		status = done ? print_late(0, "converted", in, &error)
			      : print_error(in, &error);
	/* The JSON report is told of failures, too. */
	run_report_write(args, &report, NULL, &error);
	return run_tell(args, &report, done, status);
}

/* In a directory OUT gets the name of IN, as with cp. */
static int run_pair_at(const struct args *args)
{
	const char *in = args->paths[0], *out = args->paths[1];
	const char *slash = strrchr(in, '/');
	struct args inside = *args;
	char *paths[2] = {args->paths[0], NULL};
	struct eh2sframe_error error;
	struct stat st;
	int status;

	if (print_is_stdout(out))
		return run_refuse_stdout(out);
	if (stat(out, &st) != 0 || !S_ISDIR(st.st_mode))
		return run_pair(args);
	if (asprintf(&paths[1], "%s%s%s", out, out[strlen(out) - 1] == '/' ? "" : "/",
		slash ? slash + 1 : in) < 0) {
		cmd_fail_nomem(&error);
		return print_error(NULL, &error);
	}
	inside.paths = paths;
	status = run_pair(&inside);
	free(paths[1]);
	return status;
}

/* Tells of a folder of debug files that is not there. The rest goes on without it. */
static void run_tell_debug_dir(const char *folder)
{
	struct eh2sframe_error error;
	struct stat st;
	int why = 0;

	if (!folder)
		return;
	if (stat(folder, &st) != 0)
		why = errno;
	else if (!S_ISDIR(st.st_mode))
		why = ENOTDIR;
	if (!why)
		return;
	cmd_fail(&error, EH2SFRAME_DONE,
	    "cannot be used as --debug-dir: %s; no debug file is found there, so name "
	    "another directory",
	    strerror(why));
	print_error(folder, &error);
}

/* Runs the verbs that do something. */
static int run_verb(const struct args *args)
{
	struct eh2sframe_error error;
	int status;

	if (args->verbosity >= 0)
		run_tell_debug_dir(args->debug_dir);
	if (args->tree) {
		const char *path = args->json_path ? args->json_path : args->report_path;

		if (path && run_is_input(args, 0, path))
			return run_refuse_path(path, "an input");
		return batch_run(args, NULL);
	}
	if (args->sandbox == ARGS_SANDBOX_ON && !run_sandbox(args, &error))
		return print_error(NULL, &error);
	if (args->n_paths == 1 && args->verb != VERB_DUMP && args->verb != VERB_MERGE) {
		if (args->report_path && run_is_input(args, 1, args->report_path))
			return run_refuse_path(args->report_path, "an input");
		if (run_archive(args, &status))
			return status;
	}
	switch ((int)args->verb) {
	case VERB_CONVERT:
	case VERB_SECTION:
	case VERB_REMOVE:
		return run_pair_at(args);
	case VERB_REPORT:
	case VERB_MERGE:
	case VERB_DIFF:
	case VERB_CHECK:
		return run_report(args);
	default:
		return run_each(args, NULL, run_inspect);
	}
}

int run_command(const struct args *args)
{
	if (args->verb == VERB_HELP) {
		args_print_help(args, stdout);
		return EH2SFRAME_DONE;
	}
	if (args->verb == VERB_VERSION) {
		run_version();
		return EH2SFRAME_DONE;
	}
	return run_verb(args);
}
