/* SPDX-License-Identifier: MIT */
/* Lists a tree, works on its files and reports. */
#include "cmd/batch/batch.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "cmd/batch/archive.h"
#include "cmd/batch/unused_sources.h"
#include "cmd/batch/pool.h"
#include "cmd/report/file_table.h"
#include "cmd/report/gate.h"
#include "base/program/print.h"
#include "base/program/temporary.h"

/*
 * A file of this size or more is converted alone, by all threads, before the others.
 * Each of the others takes one thread. So the largest do not need their memory at the
 * same time, and none of them is the last to finish.
 */
#define BATCH_LARGE_SIZE ((off_t)32 << 20)

volatile sig_atomic_t batch_signal;

/* A handler may do no more; the pool acts on it when it next waits. */
static void batch_note_signal(int sig)
{
	batch_signal = sig;
}

/* Signals that are ignored stay so. */
static void batch_handle_signals(void)
{
	struct sigaction action = {.sa_handler = batch_note_signal}, old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < TEMPORARY_N_SIGNALS; i++)
		if (sigaction(temporary_signals[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			sigaction(temporary_signals[i], &action, NULL);
}

/* One run of the command. */
struct batch_run {
	const struct args *args;
	struct archive *archive; /* which it is about; NULL: a tree */
	struct batch_tree tree;
	struct batch_bar bar;
	struct report_document report;
	struct report_gate gate;
	struct report_table table; /* of reports, where each has a line */
	struct print_out out;	   /* --report-file, or what a report goes to */
	struct sandbox box;	   /* of the workers */
	struct sandbox_state sandbox;
	const char *where; /* what a failure is about, or NULL */
};

static void batch_note_patterns(struct patterns *patterns, const json_t *object)
{
	const char *symbols = json_string_value(json_object_get(object, "symbols"));

	if (!json_object_get(object, "counts"))
		return;
	cmd_patterns_note(patterns, object);
	patterns->none += symbols && !strcmp(symbols, "none");
	patterns->dynamic += symbols && strcmp(symbols, "none") != 0;
}

/* True if a report is written as a document. */
static bool batch_has_document(const struct args *args)
{
	return args->json_path || args->json || args->html;
}

/* True if there is a report instead of a text about the run. */
static bool batch_is_report(const struct batch_run *run)
{
	return run->args->verb == VERB_REPORT ||
	       (run->archive && run->args->verb == VERB_CHECK);
}

/* True if something will be told of every file. */
static bool batch_keeps(const struct args *args)
{
	return batch_has_document(args) || args->verbosity > 0;
}

/* The word for what was done with a file; NULL: see report_print_summary. */
static const char *batch_done_word(const struct args *args)
{
	if (args->dry_run)
		return "would be converted";
	if (args->verb == VERB_REMOVE)
		return "restored";
	if (args->verb == VERB_VERIFY)
		return "proven";
	if (args->verb == VERB_CHECK)
		return args->baseline ? "no worse" : "not contradicted";
	return args->verb == VERB_LINT ? "keep every rule" : NULL;
}

/* Adds the object of a file, NULL: memory ran out, to all that is told at the end. */
static bool batch_add(
    struct batch_run *run, json_t *object, bool keep, struct eh2sframe_error *err)
{
	const char *path = json_string_value(json_object_get(object, "path"));
	const json_t *status = json_object_get(object, "status");

	return (!object || report_gate_note(&run->gate, object, err)) &&
	       (!object || !args_has_table(run->args) ||
		   report_table_add(&run->table, path, (int)json_integer_value(status),
		       object, err)) &&
	       report_document_add(&run->report, object, keep, err);
}

/* Prints failures at once, because a run may take long. The rest comes at the end, in an
 * order that does not depend on the number of processes. */
static bool batch_done_one(
    struct batch_run *run, const char *path, json_t *object, struct eh2sframe_error *err)
{
	const char *text = json_string_value(json_object_get(object, "error"));
	struct eh2sframe_error why;
	bool keep = batch_keeps(run->args) || json_object_get(object, "text");

	if (text) {
		cmd_fail(&why, EH2SFRAME_DONE, "%s", text);
		batch_bar_erase(&run->bar);
		print_error(path, &why);
	}
	if (run->args->verbosity >= 0)
		batch_unused_sources_print(object, path, &run->bar);
	/* The report has what was found, as that of a single file has it. */
	if (json_object_get(object, "check") || json_object_get(object, "code"))
		json_object_del(object, "error");
	if (object)
		batch_note_patterns(run->args->patterns, object);
	return batch_add(run, object, keep, err);
}

/* Adds the objects of an archive's members, each of which is a file. */
static bool batch_done_members(
    struct batch_run *run, json_t *members, struct eh2sframe_error *err)
{
	json_t *member;
	size_t i;

	json_array_foreach(members, i, member)
	{
		const json_t *path = json_object_get(member, "path");

		if (!path)
			run->report.apart.not_elf++;
		else if (!batch_done_one(run, json_string_value(path), member, err))
			return false;
	}
	return true;
}

/* The pool calls this. */
static bool batch_done(
    void *context, size_t file, json_t *object, struct eh2sframe_error *err)
{
	struct batch_run *run = context;
	json_t *members = json_object_get(object, "members");

	return members ? batch_done_members(run, members, err)
		       : batch_done_one(
			     run, batch_tree_name(&run->tree, file)->path, object, err);
}

/* Adds what no worker gets: paths that could not be read, files whose header excludes
 * them. */
static bool batch_add_listed(struct batch_run *run, struct eh2sframe_error *err)
{
	const struct batch_tree *tree = &run->tree;
	bool keep = batch_keeps(run->args), ok = true;

	for (size_t i = 0; ok && i < tree->n_faults; i++) {
		json_t *object =
		    report_file_failed(tree->faults[i].path, &tree->faults[i].err);

		print_error(tree->faults[i].path, &tree->faults[i].err);
		ok = batch_add(run, object, keep, err);
		json_decref(object);
	}
	for (size_t i = tree->n_work; ok && i < tree->n_files; i++) {
		const struct batch_name *name = batch_tree_name(tree, i);
		json_t *object = report_file_skipped(name->path, name->skip);

		ok = batch_add(run, object, keep, err);
		json_decref(object);
	}
	run->report.apart = (struct report_apart){(json_int_t)tree->n_others,
	    (json_int_t)tree->n_mount_points, (json_int_t)tree->n_excluded};
	return ok;
}

/* Workers open nothing but what is below the named paths, and debug files. */
static void batch_plan_sandbox(struct batch_run *run)
{
	const struct batch_tree *tree = &run->tree;
	const struct args *args = run->args;
	const bool write =
	    (args->verb == VERB_CONVERT && !args->dry_run) || args->verb == VERB_REMOVE;

	sandbox_init(&run->box, args->sandbox == ARGS_SANDBOX_ON);
	for (size_t i = 0; i < tree->n_dirs; i++)
		if (!tree->dirs[i].base)
			sandbox_allow(&run->box, tree->start, tree->dirs[i].path, write);
	sandbox_allow(&run->box, AT_FDCWD,
	    args->debug_dir ? args->debug_dir : ARGS_DEBUG_DIR, false);
}

/* Files are in the order of their sizes, so the large ones follow each other. */
static bool batch_work_all(struct batch_run *run, struct eh2sframe_error *err)
{
	const struct batch_tree *tree = &run->tree;
	struct batch_pool pool = {
	    .job = {.tree = tree,
		.args = run->args,
		.gate = &run->gate,
		.sandbox = run->args->sandbox == ARGS_SANDBOX_OFF ? NULL : &run->box},
	    .bar = &run->bar,
	    .done = batch_done,
	    .context = run};
	unsigned int jobs = run->args->jobs;
	size_t large = 0;
	bool ok;

	if (pool.job.sandbox)
		batch_plan_sandbox(run);
	run->bar.n_files = tree->n_work;
	for (size_t i = 0; i < tree->n_work; i++) {
		off_t size = batch_tree_name(tree, i)->st.st_size;

		run->bar.bytes += (uint64_t)size;
		large += size >= BATCH_LARGE_SIZE;
	}
	ok = !large || batch_pool_run(&pool, 0, large, 1, jobs, err);
	if (ok && !batch_signal && large < tree->n_work)
		ok = batch_pool_run(&pool, large, tree->n_work, jobs, 1, err);
	run->sandbox = pool.sandbox;
	return ok;
}

/* Prints what the sandbox leaves open to the workers. */
static void batch_print_sandbox(const struct batch_run *run)
{
	char text[SANDBOX_TEXT_SIZE];

	if (run->args->verbosity <= 0 || !run->sandbox.tried)
		return;
	sandbox_text(&run->sandbox, text);
	fprintf(stderr, "%s: %s\n", print_program, text);
}

/* Prints the line of a file that was passed over, or that is done and has no text. */
static void batch_print_line(
    const json_t *file, const char *path, const char *done, FILE *out)
{
	const char *skipped = json_string_value(json_object_get(file, "skipped"));

	if (skipped) {
		fprintf(out, "%s: skipped: ", path);
		plain_print(skipped, out);
		putc('\n', out);
	} else if (done && !json_object_get(file, "error")) {
		fprintf(out, "%s: %s\n", path, done);
	}
}

/* Prints what was found, and with -v a line per file, in order. */
static void batch_print_files(struct batch_run *run, const char *done, FILE *out)
{
	struct report_document *report = &run->report;
	static char path[PRINT_PLAIN_SIZE];

	for (size_t i = 0; i < report->n; i++) {
		json_t *file;

		if (report->list[i].words)
			fputs(report->list[i].words, out);
		if (report->list[i].words || run->args->verbosity <= 0)
			continue;
		file = json_loads(report->list[i].text, 0, NULL);
		plain_copy(path, sizeof(path), report->list[i].path);
		batch_print_line(file, path, done, out);
		json_decref(file);
	}
}

static void batch_print(struct batch_run *run)
{
	const struct args *args = run->args;
	const bool report = batch_is_report(run);
	const char *done = batch_done_word(args);
	FILE *out = report ? run->out.file : stdout;

	batch_print_sandbox(run);
	if (report && batch_has_document(args))
		return;
	/* Empties the report only now, so that a run that comes to an early end leaves the old text. */
	if (report)
		print_start(&run->out);
	batch_print_files(run, done, out);
	if (args_has_table(args)) {
		report_table_print(&run->table, out);
	} else if (args->verbosity >= 0) {
		if (run->archive)
			plain_print(run->archive->path, out), fputs(": ", out);
		if (run->report.checks.files)
			report_checks_print(&run->report.checks, out);
		report_print_summary(&run->report, done, out);
	}
}

/* Opens the report only now, or it would be one of the files of the tree. */
static bool batch_open_report(struct batch_run *run, struct eh2sframe_error *err)
{
	const struct args *args = run->args;
	const char *path = args->json_path ? args->json_path : args->report_path;

	if (!args->json_path && !batch_is_report(run))
		return true;
	/* The workers would inherit what is noted. */
	if (!print_open(path, run->archive, &run->out, err)) {
		run->where = run->out.path;
		return false;
	}
	return true;
}

/* Works on the members of an archive, in this process. */
static bool batch_work_archive(struct batch_run *run, struct eh2sframe_error *err)
{
	const struct batch_job job = {
	    .args = run->args, .gate = &run->gate, .watch = {temporary_note, NULL}};
	json_t *object;
	bool ok;

	if (!batch_open_report(run, err))
		return false;
	run->where = run->archive->path;
	object = batch_archive_work(&job, run->archive, run->args->paths[1], err);
	ok = object && batch_done(run, 0, object, err);
	json_decref(object);
	return ok;
}

/* Also returns true when a signal came before all was done. */
static bool batch_work(struct batch_run *run, struct eh2sframe_error *err)
{
	const struct args *args = run->args;

	run->where = args->baseline;
	if (!report_gate_open(&run->gate, args, err))
		return false;
	run->where = NULL;
	if (run->archive)
		return batch_work_archive(run, err);
	if (!batch_tree_list(&run->tree, args, err))
		return false;
	batch_bar_erase(&run->bar);
	if (batch_signal)
		return true;
	return batch_open_report(run, err) && batch_add_listed(run, err) &&
	       batch_work_all(run, err);
}

/* Ends the run, as far as it is told. */
static bool batch_tell(struct batch_run *run, struct eh2sframe_error *err)
{
	bool ok;

	run->where = run->out.path;
	ok = batch_has_document(run->args)
		 ? report_document_write(&run->report, &run->out, run->args->html, err)
		 : print_close(&run->out, true, err);
	if (!ok)
		return false;
	run->where = NULL;
	return print_end(err);
}

/* Returns how many files this run has changed. */
static json_int_t batch_new(const struct batch_run *run)
{
	return run->report.sums.done - run->report.sums.already;
}

/* Ends a run that came to an early end. */
static int batch_gave_up(struct batch_run *run, struct eh2sframe_error *err)
{
	json_int_t done = run->archive ? 0 : batch_new(run);

	if (done)
		cmd_fail(err, err->status,
		    "%.400s (after %" JSON_INTEGER_FORMAT " file%s)", err->text, done,
		    num_s((uint64_t)done));
	return print_worse(run->report.sums.status, print_error(run->where, err));
}

/* A check that looked at nothing fails. */
static int batch_judge_empty(const struct batch_run *run, int status)
{
	enum verb verb = run->args->verb;
	const char *what = "a .sframe section";
	struct eh2sframe_error err;

	const bool writes = verb == VERB_CONVERT || verb == VERB_REMOVE;

	if (status || run->report.sums.done || (writes && !run->archive))
		return status;
	if (verb == VERB_CHECK || verb == VERB_REPORT)
		what = "CFI";
	else if (json_object_get(run->report.skips, "no-cfi"))
		what = "a .sframe section and CFI";
	if (json_object_get(run->report.skips, "has-sframe"))
		cmd_fail(&err, EH2SFRAME_NOTHING,
		    "its members have .sframe already; --refresh replaces it");
	else if (writes)
		cmd_fail(&err, EH2SFRAME_NOTHING, "no member has %s, nothing to do",
		    verb == VERB_REMOVE ? ".sframe that eh2sframe added" : "CFI");
	else
		cmd_fail(&err, EH2SFRAME_NOTHING, "no file has %s to look at", what);
	return print_error(run->archive ? run->archive->path : NULL, &err);
}

int batch_run(const struct args *args, struct archive *archive)
{
	struct batch_run run = {.args = args,
	    .archive = archive,
	    .tree = {.start = -1, .near_fd = -1},
	    .box = {.ruleset = -1}};
	struct eh2sframe_error err = {0};
	const char *done = args->dry_run		? NULL
			   : args->verb == VERB_CONVERT ? "converted"
			   : args->verb == VERB_REMOVE	? "restored"
							: NULL;
	int status;
	bool ok;

	if (args->verbosity >= 0 && !print_can(&err))
		return print_error(NULL, &err);
	/* One process has no other to end. */
	if (!archive)
		batch_handle_signals();
	/* SIGPIPE shows as a failed write, after the files are new. */
	signal(SIGPIPE, SIG_IGN);
	batch_bar_init(&run.bar, args->verbosity < 0);
	ok = report_document_init(&run.report, &err) && batch_work(&run, &err);
	batch_bar_erase(&run.bar);
	status = run.report.sums.status;
	if (ok && !batch_signal) {
		report_document_sort(&run.report);
		if (!archive || status || run.report.sums.done)
			batch_print(&run);
		status = print_worse(
		    status, cmd_patterns_judge(args->patterns, args->verbosity < 0));
		status = batch_judge_empty(&run, status);
		status = print_worse(
		    status, report_gate_print(&run.gate, args->verbosity < 0));
	}
	if (!ok)
		status = batch_gave_up(&run, &err);
	else if (!batch_signal && !batch_tell(&run, &err))
		status = done && batch_new(&run)
			     ? print_late(status, done, run.where, &err)
			     : print_worse(status, print_error(run.where, &err));
	/* Nothing was written to the report. */
	print_close(&run.out, false, &err);
	report_gate_deinit(&run.gate);
	report_table_deinit(&run.table);
	report_document_deinit(&run.report);
	sandbox_deinit(&run.box);
	batch_tree_deinit(&run.tree);
	/* The sender, or a shell that waits, must see that the signal ended the
	 * command. */
	if (batch_signal) {
		signal(batch_signal, SIG_DFL);
		raise(batch_signal);
	}
	return status;
}
