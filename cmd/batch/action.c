/* SPDX-License-Identifier: MIT */
/* Calls of the library for one file. */
#include "cmd/batch/action.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/program/fail.h"
#include "base/program/print.h"
#include "cmd/report/report.h"

/* Verbs about a section find it themselves: a damaged one is no missing one. */
static bool action_needs_cfi(const struct args *args)
{
	return args->verb == VERB_CONVERT || args->verb == VERB_CHECK ||
	       args->verb == VERB_REPORT ||
	       (args->reader && !strcmp(args->reader, "linux-eh-frame"));
}

const char *batch_action_skip(const struct args *args, const struct eh2sframe_file *file)
{
	const enum eh2sframe_skip skip = eh2sframe_file_skip(file);

	if (skip == EH2SFRAME_SKIP_DEBUG_ONLY)
		return "debug-only";
	/* A limit of coverage fails where there is nothing to cover the code with. */
	if (skip == EH2SFRAME_SKIP_NO_CFI && action_needs_cfi(args))
		return args->judge && args->verb != VERB_CHECK ? NULL : "no-cfi";
	if (args->verb == VERB_CONVERT && skip == EH2SFRAME_SKIP_HAS_SFRAME)
		return "has-sframe";
	return args->verb == VERB_CONVERT && skip == EH2SFRAME_SKIP_LOADER ? "loader"
									   : NULL;
}

const char *batch_action_nothing(
    const struct args *args, const struct eh2sframe_file *file)
{
	if (!action_needs_cfi(args) &&
	    eh2sframe_file_skip(file) != EH2SFRAME_SKIP_HAS_SFRAME)
		return "no-sframe";
	return args->verb == VERB_REMOVE ? "other-sframe" : "no-cfi";
}

/* Adds the line that a conversion of the file alone prints, with what is to be said besides, or NULL. */
static bool action_line(const struct eh2sframe_result *result, const char *besides,
    json_t *report, struct eh2sframe_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool ok = out && eh2sframe_result_print(
			     result, EH2SFRAME_TEXT_SUMMARY, print_text, out, error);

	if (ok && besides)
		ok = (fseek(out, -1, SEEK_CUR) == 0 &&
			 fprintf(out, ", %s\n", besides) >= 0) ||
		     cmd_fail_nomem(error);
	if (!out || fclose(out) != 0 || (ok && !report_file_add_text(report, text)))
		ok = cmd_fail_nomem(error);
	free(text);
	return ok;
}

/* True if lists of code are told or compared. Without that they would only take memory. */
static bool action_lists(const struct batch_job *job)
{
	const struct args *args = job->args;

	return args->json_path || args->json || args->html || job->gate->path;
}

/* Makes the object of a result; with --baseline it has the changes, and may be a failure. */
static bool action_report(const struct batch_job *job, struct eh2sframe_result *result,
    const char *besides, json_t **report, struct eh2sframe_error *error)
{
	*report = report_of_result(result, action_lists(job), error);
	return *report &&
	       (!job->gate->path || report_gate_judge(job->gate, *report, error)) &&
	       (job->args->verbosity <= 0 ||
		   action_line(result, besides, *report, error));
}

/* Makes the object of a file that is done, without anything else in it. */
static bool action_done(json_t **report, struct eh2sframe_error *error)
{
	*report = json_pack("{si}", "status", EH2SFRAME_DONE);
	return *report || cmd_fail_nomem(error);
}

bool batch_action_ready(const struct batch_job *job, struct eh2sframe_result *result,
    json_t **report, struct eh2sframe_error *error)
{
	return result ? action_report(job, result, NULL, report, error)
		      : action_done(report, error);
}

/* Converts in two steps if there is a baseline: a result that is worse than it must not
 * be written, whatever else stands against writing. */
static bool action_convert(const struct batch_job *job, const struct eh2sframe_file *file,
    const char *out, json_t **report, struct eh2sframe_error *error)
{
	const bool first = job->gate->path != NULL;
	struct eh2sframe_result *result =
	    eh2sframe_convert(file, first ? NULL : out, error);
	bool ok =
	    result && (!first || (action_report(job, result, NULL, report, error) &&
				     eh2sframe_result_write_path(result, out, error)));

	eh2sframe_result_free(result);
	return ok;
}

bool batch_action_write(const struct batch_job *job, const struct eh2sframe_file *file,
    const char *out, json_t **report, struct eh2sframe_error *error)
{
	return job->args->verb == VERB_CONVERT
		   ? action_convert(job, file, out, report, error)
		   : eh2sframe_file_remove_path(file, out, error);
}

/* True if the file has these bytes. */
static bool action_has_bytes(int fd, const void *bytes, size_t size)
{
	struct stat st;
	void *map;
	bool same;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size != size)
		return false;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return false;
	same = memcmp(map, bytes, size) == 0;
	munmap(map, size);
	return same;
}

/* Converts a file in memory. *same: fd, unless it is -1, has these bytes. NULL after a failure. */
static struct eh2sframe_result *action_remake(
    const struct eh2sframe_file *file, int fd, bool *same, struct eh2sframe_error *error)
{
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, error);
	void *bytes = NULL;
	size_t size = 0;
	bool ok = result && eh2sframe_result_write_memory(result, &bytes, &size, error);

	*same = ok && fd >= 0 && action_has_bytes(fd, bytes, size);
	eh2sframe_free(bytes);
	if (ok)
		return result;
	eh2sframe_result_free(result);
	return NULL;
}

bool batch_action_make(const struct batch_job *job, const struct eh2sframe_file *file,
    void **bytes, size_t *size, json_t **report, struct eh2sframe_error *error)
{
	struct eh2sframe_result *result;
	bool ok;

	if (job->args->verb == VERB_REMOVE)
		return eh2sframe_file_remove_memory(file, bytes, size, error) &&
		       action_done(report, error);
	result = eh2sframe_convert(file, NULL, error);
	ok = result && eh2sframe_result_write_memory(result, bytes, size, error) &&
	     action_report(
		 job, result, job->args->dry_run ? "not written" : NULL, report, error);
	eh2sframe_result_free(result);
	return ok;
}

bool batch_action_is_made(
    const struct eh2sframe_file *file, int fd, struct eh2sframe_error *error)
{
	bool same;

	eh2sframe_result_free(action_remake(file, fd, &same, error));
	return same;
}

bool batch_action_again(const struct batch_job *job, const struct eh2sframe_file *file,
    int fd, json_t **report, struct eh2sframe_error *error)
{
	bool same, ok;
	struct eh2sframe_result *result = action_remake(file, fd, &same, error);

	ok = result &&
	     (!same || action_report(job, result, "by an earlier run", report, error));
	if (ok && *report && json_object_set_new(*report, "already", json_true()) < 0) {
		json_decref(*report);
		*report = NULL;
		ok = cmd_fail_nomem(error);
	}
	eh2sframe_result_free(result);
	return ok;
}

/* Adds the text that is told: a report, and what was found in a file; of one that is as it should be only
 * -v tells more. */
static bool action_text(const struct args *args, bool ok, const char *text, size_t size,
    json_t *report, struct eh2sframe_error *error)
{
	const bool told = args->verb == VERB_REPORT || !ok || args->verbosity > 0;

	return !size || !told || report_file_add_text(report, text) ||
	       cmd_fail_nomem(error);
}

/* Checks the CFI against the code, prints what that found, and judges it. */
static bool action_check(const struct batch_job *job, const struct eh2sframe_file *file,
    FILE *out, json_t **report, struct eh2sframe_error *error)
{
	struct eh2sframe_check *check = eh2sframe_check_file(file, error);
	bool ok;

	if (check)
		*report = report_of_check(check, action_lists(job), error);
	ok = check && *report && eh2sframe_check_print(check, print_text, out, error) &&
	     (job->gate->path ? report_gate_judge(job->gate, *report, error)
			      : eh2sframe_check_judge(check, error));
	eh2sframe_check_free(check);
	return ok;
}

/* Notes in the object of a report how it is judged. */
static bool action_judge(const struct batch_job *job, struct eh2sframe_result *result,
    json_t *report, struct eh2sframe_error *error)
{
	struct eh2sframe_error why = {0}, worse;

	if (job->args->judge && eh2sframe_result_check(result, &why))
		why.status = EH2SFRAME_DONE;
	if (job->gate->path && !report_gate_judge(job->gate, report, &worse) &&
	    !why.status)
		why = worse;
	return !why.status || report_file_judge(report, &why) || cmd_fail_nomem(error);
}

/* Reports a conversion that is not made. */
static bool action_report_only(const struct batch_job *job,
    const struct eh2sframe_file *file, FILE *out, json_t **report,
    struct eh2sframe_error *error)
{
	const struct args *args = job->args;
	const bool lines = args_has_table(args);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, error);
	bool ok;

	if (result)
		*report = report_of_result(result, !lines || job->gate->path, error);
	ok = *report && action_judge(job, result, *report, error) &&
	     (lines || args->json || args->html ||
		 eh2sframe_result_print(result,
		     args->functions ? EH2SFRAME_TEXT_FUNCTIONS : EH2SFRAME_TEXT_REPORT,
		     print_text, out, error));
	eh2sframe_result_free(result);
	return ok;
}

/* Looks at a file as the verb says, and prints what it found. */
static bool action_look(const struct batch_job *job, const struct eh2sframe_file *file,
    FILE *out, json_t **report, struct eh2sframe_error *error)
{
	const struct args *args = job->args;

	if (args->verb == VERB_REPORT)
		return action_report_only(job, file, out, report, error);
	if (args->verb == VERB_CHECK)
		return action_check(job, file, out, report, error);
	if (args->verb == VERB_VERIFY)
		return eh2sframe_file_verify(file, NULL, print_text, out, error);
	return eh2sframe_file_lint(
	    file, args->reader ? args->reader : "all", print_text, out, error);
}

bool batch_action_look(const struct batch_job *job, const struct eh2sframe_file *file,
    json_t **report, struct eh2sframe_error *error)
{
	const struct args *args = job->args;
	struct eh2sframe_error late;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool ok;

	if (!out)
		return cmd_fail_nomem(error);
	ok = action_look(job, file, out, report, error);
	if (fclose(out) != 0)
		ok = cmd_fail_nomem(error);
	else if (!*report && !action_done(report, ok ? error : &late))
		ok = false;
	else if (!action_text(args, ok, text, size, *report, ok ? error : &late))
		ok = false;
	free(text);
	return ok;
}
