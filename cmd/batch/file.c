/* SPDX-License-Identifier: MIT */
/* Writes the new file, and gives it the names of the old one. */
#include "cmd/batch/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/newfile.h"
#include "cmd/batch/action.h"
#include "cmd/report/report.h"
#include "base/program/temporary.h"

enum { BATCH_TEMP_SIZE = 64 };

/* The work on one file, until it is a report. */
struct file_state {
	int dirfd;	  /* of its first name */
	int fd;		  /* of the file as it was */
	struct stat was;  /* when it was opened */
	const char *skip; /* why there is nothing to do; or NULL */
	json_t *report;	  /* of the file */
	char *text;	  /* of that */
};

/* The temporary name for the file's k-th name. The result is written under the first. */
static const char *file_temp_name(
    const struct batch_job *job, uint32_t k, char buf[BATCH_TEMP_SIZE])
{
	snprintf(buf, BATCH_TEMP_SIZE, ".eh2sframe.%s.%" PRIu32, job->token, k);
	return buf;
}

/* Whether the file is unchanged: any write, rename, link or change of mode shows in
 * ctime. */
static bool file_is_same(const struct stat *a, const struct stat *b, bool links_too)
{
	return newfile_is_unchanged(a, b) &&
	       (!links_too || (a->st_nlink == b->st_nlink &&
				  a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
				  a->st_ctim.tv_nsec == b->st_ctim.tv_nsec));
}

/* Stats the name itself, not the target of a link in its place. */
static bool file_stat(int dirfd, const struct batch_name *name, struct stat *st,
    struct eh2sframe_error *err)
{
	if (fstatat(dirfd, name->base, st, AT_SYMLINK_NOFOLLOW) < 0)
		return cmd_fail_errno(err, "cannot stat");
	return true;
}

/* Checks that the k-th name still belongs to the file, and puts a link to the new file
 * beside it. */
static bool file_link(const struct batch_job *job, const struct batch_file *file,
    uint32_t k, const struct file_state *made, struct eh2sframe_error *err)
{
	const struct batch_name *name = &job->tree->names[file->first + k];
	char from[BATCH_TEMP_SIZE], to[BATCH_TEMP_SIZE];
	int dirfd = batch_tree_open_dir(job->tree, name->dir, err);
	struct stat st;
	bool ok = dirfd >= 0 && file_stat(dirfd, name, &st, err);

	if (ok && !file_is_same(&st, &made->was, true))
		ok = cmd_fail(err, EH2SFRAME_IO, NEWFILE_CHANGED);
	if (ok && k > 0 &&
	    linkat(made->dirfd, file_temp_name(job, 0, from), dirfd,
		file_temp_name(job, k, to), 0) < 0)
		ok = cmd_fail_errno(err, "cannot link beside %s", name->base);
	if (dirfd >= 0)
		close(dirfd);
	return ok;
}

/* Makes the k-th name a name of the new file. */
static bool file_rename(const struct batch_job *job, const struct batch_file *file,
    uint32_t k, struct eh2sframe_error *err)
{
	const struct batch_name *name = &job->tree->names[file->first + k];
	char temp[BATCH_TEMP_SIZE];
	int dirfd = batch_tree_open_dir(job->tree, name->dir, err);
	bool ok = dirfd >= 0;

	if (ok && renameat(dirfd, file_temp_name(job, k, temp), dirfd, name->base) < 0)
		ok = cmd_fail_errno(err, "cannot rename onto %s", name->base);
	if (dirfd >= 0)
		close(dirfd);
	if (ok || file->n == 1)
		return ok;
	return cmd_fail(err, err->status,
	    "%.300s; %" PRIu32 " of its %" PRIu32 " names are links to the new file",
	    err->text, k, file->n);
}

/* Make all links before the first name changes: most failures then change nothing. */
static bool file_replace(const struct batch_job *job, const struct batch_file *file,
    const struct file_state *made, struct eh2sframe_error *err)
{
	sigset_t all, before;
	bool ok = true;

	/* Two runs at the same time would each give names to their own file, and
	 * separate them. The lock lets only one do so until the file is closed. */
	if (file->n > 1 && flock(made->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return cmd_fail(
		    err, EH2SFRAME_IO, "another process has locked it; left as it is");
	/* Signals wait, or the names would separate. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (uint32_t k = 0; ok && k < file->n; k++)
		ok = file_link(job, file, k, made, err);
	for (uint32_t k = 0; ok && k < file->n; k++)
		ok = file_rename(job, file, k, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ok;
}

/* The library's file has a name of this kind in the directory of the file's first name. */
static const char *file_library_name(const char *path)
{
	static const char start[] = ".eh2sframe.";
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	return strncmp(base, start, sizeof(start) - 1) == 0 ? base : NULL;
}

void batch_file_clean(const struct batch_job *job, size_t index, const char *temporary)
{
	const struct batch_file *file = &job->tree->files[index];
	const char *library = file_library_name(temporary);
	bool own = strspn(job->token, "0123456789abcdef") == BATCH_TOKEN_SIZE - 1;
	char temp[BATCH_TEMP_SIZE];
	struct eh2sframe_error ignored;

	for (uint32_t k = 0; k < file->n && (own || library); k++) {
		int dirfd = batch_tree_open_dir(
		    job->tree, job->tree->names[file->first + k].dir, &ignored);

		if (dirfd < 0)
			continue;
		if (own)
			unlinkat(dirfd, file_temp_name(job, k, temp), 0);
		if (library && k == 0)
			unlinkat(dirfd, library, 0);
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
	if (fstat(fd, st) == 0 && file_is_same(st, &name->st, false))
		return fd;
	cmd_fail(error, EH2SFRAME_IO, "changed after it was listed; run again");
	close(fd);
	return -1;
}

/* Whether all names of the file are below the named paths. */
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
		    "separate them",
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

/* Writes a new file and puts it in the place of the old. */
static bool file_make(const struct batch_job *job, const struct batch_file *file,
    const struct eh2sframe_file *input, struct file_state *made,
    struct eh2sframe_error *error)
{
	/* A section that is another producer's stays, whatever names the file has; this
	 * shows when it is to be removed. */
	bool late = job->args->verb == VERB_REMOVE;
	char temp[BATCH_TEMP_SIZE];
	bool ok;

	if (!late && !file_has_all_names(file, made, error))
		return false;
	file_temp_name(job, 0, temp);
	temporary_note(NULL, temp, true);
	/* After the file has its place, memory may run out. */
	ok = batch_action_write(job, input, temp, &made->report, error) &&
	     (!late || file_has_all_names(file, made, error)) &&
	     file_report(job, file, made, error) && file_replace(job, file, made, error);
	/* This is after a failure, or for names that were not reached. */
	if (!ok) {
		batch_file_clean(job, (size_t)(file - job->tree->files), "");
		/* The directory may have another name by now. */
		unlinkat(made->dirfd, temp, 0);
		/* A failure has no line of a result. */
		json_object_del(made->report, "text");
	}
	temporary_note(NULL, temp, false);
	if (!ok && late && error->status == EH2SFRAME_NOTHING)
		made->skip = "other-sframe";
	return ok;
}

/* Does the same, but leaves the old file as it is. */
static bool file_try(const struct batch_job *job, const struct batch_file *file,
    const struct eh2sframe_file *input, struct file_state *made,
    struct eh2sframe_error *error)
{
	bool ok = file_has_all_names(file, made, error) &&
		  batch_action_try(job, input, &made->report, error) &&
		  file_report(job, file, made, error);

	/* A failure has no line of a result. */
	if (!ok)
		json_object_del(made->report, "text");
	return ok;
}

/* Does with an open file what the verb says. */
static bool file_act(const struct batch_job *job, const struct batch_file *file,
    const struct eh2sframe_file *input, struct file_state *made,
    struct eh2sframe_error *error)
{
	const enum verb verb = job->args->verb;

	if (verb != VERB_CONVERT && verb != VERB_REMOVE)
		return batch_action_look(job, input, &made->report, error) &&
		       file_report(job, file, made, error);
	return (job->args->dry_run ? file_try : file_make)(job, file, input, made, error);
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
	/* What cannot be made again is of another program, or of other options. */
	if (!ok && (error->status == EH2SFRAME_NO_MEMORY || made->report || limit))
		made->skip = NULL;
	return ok && made->report;
}

/* Read the input through one descriptor from here on, whatever happens to its name. */
static bool file_work(const struct batch_job *job, const struct batch_file *file,
    struct file_state *made, struct eh2sframe_error *error)
{
	const struct batch_name *name = &job->tree->names[file->first];
	const struct args *args = job->args;
	struct eh2sframe_file *open = NULL;
	bool ok = false;

	made->fd = -1;
	made->dirfd = batch_tree_open_dir(job->tree, name->dir, error);
	if (made->dirfd >= 0)
		made->fd = file_open(name, made->dirfd, &made->was, error);
	if (made->fd >= 0)
		open = eh2sframe_open_fd(made->fd, name->path, args->options, error);
	made->skip = open ? batch_action_skip(args, open) : NULL;
	if (open && !made->skip)
		ok = file_act(job, file, open, made, error);
	eh2sframe_close(open);
	if (open && made->skip && (args->json_path || args->baseline))
		ok = file_again(job, file, made, error);
	if (made->fd >= 0)
		close(made->fd);
	if (made->dirfd >= 0)
		close(made->dirfd);
	return ok;
}

/* 64 random bits, new for each file. */
static bool file_new_token(char *token, struct eh2sframe_error *error)
{
	unsigned char random[(BATCH_TOKEN_SIZE - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return cmd_fail_errno(error, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	return true;
}

/* A failure, with what was found until then. */
static json_t *file_failure(const struct batch_name *name,
    const struct eh2sframe_error *error, const json_t *report)
{
	/* A check that found faults is not less of a check. */
	static const char *const names[] = {
	    "text", "changes", "machine", "build_id", "check", "faults", "doubts"};
	const size_t n =
	    json_object_get(report, "check") ? sizeof(names) / sizeof(names[0]) : 2;
	json_t *failure = report_file_failed(name->path, error);

	for (size_t i = 0; failure && i < n; i++) {
		json_t *found = json_object_get(report, names[i]);

		if (found && json_object_set(failure, names[i], found) < 0) {
			json_decref(failure);
			failure = NULL;
		}
	}
	return failure;
}

char *batch_file_work(const struct batch_job *job, size_t index)
{
	const struct batch_file *file = &job->tree->files[index];
	const struct batch_name *name = &job->tree->names[file->first];
	struct eh2sframe_error error = {0};
	struct file_state made = {0};
	json_t *failure;
	char *text;

	if (file_new_token(job->token, &error) && file_work(job, file, &made, &error)) {
		json_decref(made.report);
		return made.text;
	}
	free(made.text);
	if (!made.skip && error.status == EH2SFRAME_NOTHING)
		made.skip = "no-cfi";
	if (made.skip &&
	    (!strcmp(made.skip, "no-cfi") || !strcmp(made.skip, "debug-only")) &&
	    !report_gate_judge_bare(job->gate, name->path, &error))
		made.skip = NULL;
	failure = made.skip ? report_file_skipped(name->path, made.skip)
			    : file_failure(name, &error, made.report);
	json_decref(made.report);
	text = report_value_dump(failure);
	json_decref(failure);
	return text;
}
