/* SPDX-License-Identifier: MIT */
/* Works on a file, under all of its names. */
#include "cmd/batch/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/regular.h"
#include "cmd/batch/action.h"
#include "cmd/batch/archive.h"
#include "cmd/report/report.h"

/* The work on one file, until it is a report. */
struct file_state {
	int dirfd;	  /* of its first name */
	int fd;		  /* of the file as it was */
	struct stat was;  /* when it was opened */
	const char *skip; /* why there is nothing to do; or NULL */
	json_t *report;	  /* of the file */
	char *text;	  /* of that */
};

void batch_file_clean(const struct batch_tree *tree, size_t index, const char *temporary)
{
	const struct batch_file *file = &tree->files[index];
	char name[NAME_MAX + 1];
	struct eh2sframe_error ignored;
	/* The library's temporary file is one of the first directory, and has no other kind of name. */
	const bool is = batch_is_temporary(temporary) && !strchr(temporary, '/');

	for (uint32_t k = 0; is && k < file->n; k++) {
		int dirfd =
		    batch_tree_open_dir(tree, tree->names[file->first + k].dir, &ignored);

		if (dirfd < 0)
			continue;
		snprintf(name, sizeof(name), k ? NEWFILE_LINK : "%s", temporary, k);
		unlinkat(dirfd, name, 0);
		close(dirfd);
	}
}

/* Enters the directory of the first name, and opens the file if it is the one that was
 * listed. */
static int file_open(const struct batch_name *name, int dirfd, struct stat *st,
    struct eh2sframe_error *error)
{
	int fd = -1;

	if (fchdir(dirfd) < 0)
		cmd_fail_errno(error, "cannot enter its directory");
	else
		fd = openat(dirfd, name->base, BATCH_OPEN_FILE);
	if (fd < 0) {
		cmd_fail_errno(error, "cannot open");
		return -1;
	}
	if (fstat(fd, st) == 0 && regular_is_same(&name->st, st))
		return fd;
	cmd_fail(error, EH2SFRAME_IO, "changed after it was listed; run again");
	close(fd);
	return -1;
}

/* True if all names of the file are below the named paths. */
static bool file_has_all_names(const struct batch_file *file,
    const struct file_state *made, struct eh2sframe_error *error)
{
	if (made->was.st_nlink < file->n)
		return cmd_fail(
		    error, EH2SFRAME_IO, "changed after it was listed; run again");
	if (made->was.st_nlink > file->n)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "has %ju hard links, of which %" PRIu32
		    " %s below the named paths and not excluded; rewriting it would "
		    "separate them; name the others, too, or exclude the file",
		    (uintmax_t)made->was.st_nlink, file->n, file->n == 1 ? "is" : "are");
	return true;
}

/* Makes the text of the file's report, with its other names. */
static bool file_report(const struct batch_job *job, const struct batch_file *file,
    struct file_state *made, struct eh2sframe_error *error)
{
	const struct batch_name *names = &job->tree->names[file->first];
	json_t *others = file->n > 1 ? json_array() : NULL;
	bool ok = others || file->n <= 1;

	for (uint32_t i = 1; ok && i < file->n; i++)
		ok = report_file_add_link(others, names[i].path);
	if (ok) {
		made->report = report_file_done(made->report, names->path, others);
		made->text = report_value_dump(made->report);
	} else {
		json_decref(others);
	}
	return made->text || cmd_fail_nomem(error);
}

/* Two runs at the same time would each give names to their own file, and separate them. The
 * lock lets only one do so until the file is closed. */
static bool file_lock(const struct batch_file *file, const struct file_state *made,
    struct eh2sframe_error *error)
{
	return file->n == 1 || flock(made->fd, LOCK_EX | LOCK_NB) == 0 ||
	       errno != EWOULDBLOCK ||
	       cmd_fail(error, EH2SFRAME_IO,
		   "another process has locked it; left as it is, run again");
}

/* A new file on its way to the names of the old one. */
struct file_making {
	const struct batch_job *job;
	const struct batch_file *file;
	struct file_state *made;
};

/* For struct eh2sframe_names. */
static int file_open_name(
    void *context, uint32_t k, const char **base, struct eh2sframe_error *error)
{
	const struct file_making *making = context;
	const struct batch_tree *tree = making->job->tree;
	const struct batch_name *name = &tree->names[making->file->first + k];

	*base = name->base;
	return batch_tree_open_dir(tree, name->dir, error);
}

/* For struct eh2sframe_names. Makes the report here because memory may run out once the file
 * has its place. */
static bool file_ready(
    void *context, struct eh2sframe_result *result, struct eh2sframe_error *error)
{
	const struct file_making *making = context;
	struct file_state *made = making->made;

	json_decref(made->report);
	made->report = NULL;
	return batch_action_ready(making->job, result, &made->report, error) &&
	       file_has_all_names(making->file, made, error) &&
	       file_report(making->job, making->file, made, error) &&
	       file_lock(making->file, made, error);
}

/* Writes a new file and puts it in the place of the old. */
static bool file_make(const struct batch_job *job, const struct batch_file *file,
    struct eh2sframe_file *input, struct file_state *made, struct eh2sframe_error *error)
{
	struct file_making making = {job, file, made};
	const struct eh2sframe_names names = {
	    file->n, file_open_name, file_ready, &making};
	/* A section that is another producer's stays, whatever names the file has; this
	 * shows when it is to be removed. */
	bool late = job->args->verb == VERB_REMOVE;

	if (!late && !file_has_all_names(file, made, error))
		return false;
	eh2sframe_file_set_names(input, &names);
	return batch_action_write(
	    job, input, job->tree->names[file->first].base, &made->report, error);
}

/* As file_make, but leaves the old file as it is. */
static bool file_try(const struct batch_job *job, const struct batch_file *file,
    struct eh2sframe_file *input, struct file_state *made, struct eh2sframe_error *error)
{
	void *bytes = NULL;
	size_t size;
	bool ok = file_has_all_names(file, made, error) &&
		  batch_action_make(job, input, &bytes, &size, &made->report, error) &&
		  file_report(job, file, made, error);

	eh2sframe_free(bytes);
	return ok;
}

/* Does with an open file what the verb says. */
static bool file_act(const struct batch_job *job, const struct batch_file *file,
    struct eh2sframe_file *input, struct file_state *made, struct eh2sframe_error *error)
{
	const enum verb verb = job->args->verb;

	if (verb != VERB_CONVERT && verb != VERB_REMOVE)
		return batch_action_look(job, input, &made->report, error) &&
		       file_report(job, file, made, error);
	if ((job->args->dry_run ? file_try : file_make)(job, file, input, made, error))
		return true;
	/* A failure has no line of a result. */
	json_object_del(made->report, "text");
	return false;
}

/* Opens a file that has a section, to replace it; limits: within those that were given. */
static struct eh2sframe_file *file_open_again(const struct batch_job *job,
    const char *path, const struct file_state *made, bool limits,
    struct eh2sframe_error *error)
{
	struct eh2sframe_options *options =
	    args_again(job->args, limits, job->threads, error);
	struct eh2sframe_file *open =
	    options ? eh2sframe_open_fd(made->fd, path, options, error) : NULL;

	eh2sframe_options_free(options);
	return open;
}

/* Limits change no byte: what one of them refuses now may be what an earlier run made without it. */
static bool file_is_made(const struct batch_job *job, const char *path,
    const struct file_state *made, struct eh2sframe_error *error)
{
	struct eh2sframe_error other = {0};
	struct eh2sframe_file *open = file_open_again(job, path, made, false, &other);
	bool is = open && batch_action_is_made(open, made->fd, &other);

	eh2sframe_close(open);
	if (!is && other.status == EH2SFRAME_NO_MEMORY)
		*error = other;
	return is;
}

/* A file that an earlier run converted is in the report as if this run had done it. */
static bool file_again(const struct batch_job *job, const struct batch_file *file,
    struct file_state *made, struct eh2sframe_error *error)
{
	const char *path = job->tree->names[file->first].path;
	struct eh2sframe_file *open;
	bool ok, limit;

	if (strcmp(made->skip, "has-sframe") != 0)
		return false;
	open = file_open_again(job, path, made, true, error);
	ok = open && batch_action_again(job, open, made->fd, &made->report, error);
	eh2sframe_close(open);
	if (ok && made->report)
		ok = file_report(job, file, made, error);
	limit = !ok && !made->report && error->status == EH2SFRAME_COVERAGE &&
		file_is_made(job, path, made, error);
	/* Leaves the file alone, as before, if its section cannot be regenerated byte for
	 * byte: then another tool or other options wrote it. */
	if (!ok && (error->status == EH2SFRAME_NO_MEMORY || made->report || limit))
		made->skip = NULL;
	return ok && made->report;
}

/* Works on the members of an archive. *is: the file is one. */
static bool file_archive(const struct batch_job *job, const struct batch_name *name,
    struct file_state *made, bool *is, struct eh2sframe_error *error)
{
	struct archive archive;
	bool ok = archive_open(made->fd, name->path, &archive, error);

	archive.input.names.n = 1;
	*is = !ok || archive.bytes;
	made->report =
	    ok && *is ? batch_archive_work(job, &archive, name->base, error) : NULL;
	archive_close(&archive);
	if (!made->report)
		return false;
	made->report = report_file_done(made->report, name->path, NULL);
	made->text = report_value_dump(made->report);
	return made->text || cmd_fail_nomem(error);
}

/* Read the input through one descriptor from here on, whatever happens to its name. */
static bool file_work(const struct batch_job *job, const struct batch_file *file,
    struct file_state *made, struct eh2sframe_error *error)
{
	const struct batch_name *name = &job->tree->names[file->first];
	const struct args *args = job->args;
	struct eh2sframe_file *open = NULL;
	bool ok = false, archive = false;

	made->fd = -1;
	made->dirfd = batch_tree_open_dir(job->tree, name->dir, error);
	if (made->dirfd >= 0)
		made->fd = file_open(name, made->dirfd, &made->was, error);
	if (made->fd >= 0 && args->objects)
		ok = file_archive(job, name, made, &archive, error);
	if (made->fd >= 0 && !archive)
		open = eh2sframe_open_fd(made->fd, name->path, args->options, error);
	made->skip = open ? batch_action_skip(args, open) : NULL;
	if (open && !made->skip)
		ok = file_act(job, file, open, made, error);
	if (open && !made->skip && !ok && error->status == EH2SFRAME_NOTHING)
		made->skip = batch_action_nothing(args, open);
	eh2sframe_close(open);
	if (open && made->skip && (args->json_path || args->baseline))
		ok = file_again(job, file, made, error);
	if (made->fd >= 0)
		close(made->fd);
	if (made->dirfd >= 0)
		close(made->dirfd);
	return ok;
}

/* Makes the object of a failure, with what was found until then. */
static json_t *file_failure(
    const char *path, const struct eh2sframe_error *error, const json_t *report)
{
	/* A check that found faults is not less of a check. */
	static const char *const names[] = {
	    "text", "changes", "machine", "build_id", "check", "faults", "doubts"};
	const size_t n =
	    json_object_get(report, "check") ? sizeof(names) / sizeof(names[0]) : 2;
	json_t *failure = report_file_failed(path, error);

	for (size_t i = 0; failure && i < n; i++) {
		json_t *found = json_object_get(report, names[i]);

		if (found && json_object_set(failure, names[i], found) < 0) {
			json_decref(failure);
			failure = NULL;
		}
	}
	return failure;
}

json_t *batch_file_outcome(const struct batch_job *job, const char *path,
    const char *skip, struct eh2sframe_error *error, const json_t *report)
{
	if (skip && (!strcmp(skip, "no-cfi") || !strcmp(skip, "debug-only")) &&
	    !report_gate_judge_bare(job->gate, path, error))
		skip = NULL;
	return skip ? report_file_skipped(path, skip) : file_failure(path, error, report);
}

char *batch_file_work(const struct batch_job *job, size_t index)
{
	const struct batch_file *file = &job->tree->files[index];
	struct eh2sframe_error error = {0};
	struct file_state made = {0};
	json_t *outcome;
	char *text;

	if (file_work(job, file, &made, &error)) {
		json_decref(made.report);
		return made.text;
	}
	free(made.text);
	outcome = batch_file_outcome(
	    job, job->tree->names[file->first].path, made.skip, &error, made.report);
	json_decref(made.report);
	text = report_value_dump(outcome);
	json_decref(outcome);
	return text;
}
