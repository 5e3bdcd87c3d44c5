/* SPDX-License-Identifier: MIT */
/* A worker process: it works on files and sends their reports to the pool. */
#include "cmd/batch/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "base/program/temporary.h"
#include "base/sandbox/apart.h"

enum {
	BATCH_READ_SIZE = 64 << 10,
	/* Above all that the pool opens itself. */
	WORKER_MAX_FD = 4096
};

/* Works on a file. False when memory runs out, or when the pool is gone. */
static bool worker_work(const struct batch_job *job, size_t file, int fd)
{
	struct batch_message message = {.file = file};
	char *text = batch_file_work(job, file);
	bool ok;

	message.size = text ? strlen(text) : 0;
	ok = text && apart_write(fd, &message, sizeof(message)) &&
	     apart_write(fd, text, message.size);

	free(text);
	return ok;
}

/* The pool notes signals; they end a worker. Those that were ignored or blocked at the start stay
 * so, except TERM, by which the pool ends workers. */
static void worker_set_signals(const sigset_t *signals)
{
	sigset_t blocked = *signals;

	for (size_t i = 0; i < TEMPORARY_N_SIGNALS; i++) {
		int number = temporary_signals[i];
		struct sigaction old;

		if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			signal(number, SIG_DFL);
	}
	signal(SIGTERM, SIG_DFL);
	/* The pool says which signal ended a worker, and removes its files. */
	temporary_leave_faults();
	sigdelset(&blocked, SIGTERM);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* The library's temporary file: the worker removes it if it can, otherwise the pool. */
static void worker_note_temporary(void *context, const char *path, bool exists)
{
	char *record = context;

	/* The record first: a worker may be killed at any time. */
	if (exists && strlen(path) <= NAME_MAX)
		strcpy(record, path);
	else
		record[0] = '\0';
	temporary_note(NULL, path, exists);
}

/* Closes the descriptors from first to last. Linux before 5.9 has no call for it. */
static void worker_close(unsigned int first, unsigned int last)
{
	if (close_range(first, last, 0) == 0)
		return;
	for (unsigned int fd = first; fd <= last && fd < WORKER_MAX_FD; fd++)
		close((int)fd);
}

/*
 * Keeps the pipe to the pool, the directory that paths begin in, and the way into the sandbox. A worker
 * that a file takes over could otherwise write to the report and the terminal, read what other
 * workers send, and use whatever the caller left open.
 */
static void worker_close_others(int pipe, int start, int ruleset)
{
	const int kept[] = {pipe, start, ruleset};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* In a root without devices: reading and writing what is only a place fails. */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null < 0 ? start : null, fd);
	for (unsigned int from = STDERR_FILENO + 1, next; from; from = next + 1) {
		next = UINT_MAX;
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (kept[i] >= 0 && (unsigned int)kept[i] >= from &&
			    (unsigned int)kept[i] < next)
				next = (unsigned int)kept[i];
		if (next > from)
			worker_close(from, next - (next < UINT_MAX));
	}
}

/* Enters the sandbox before the first file. Without the memory for it, no file is read. */
static bool worker_enter_sandbox(const struct batch_job *job, struct sandbox_state *state)
{
	struct eh2sframe_error ignored;

	if (!job->sandbox)
		return true;
	sandbox_enter(job->sandbox, state);
	if (job->sandbox->ruleset >= 0)
		close(job->sandbox->ruleset);
	if (state->no_landlock == ENOMEM || state->no_seccomp == ENOMEM)
		return false;
	if (job->args->sandbox == ARGS_SANDBOX_ON && !sandbox_whole(state, &ignored))
		_exit(EH2SFRAME_IO);
	return true;
}

/* Does not return. Workers share only the counter. */
static void worker_main(const struct batch_job *job, struct batch_shared *shared,
    const sigset_t *signals, int fd)
{
	struct batch_record *record = &shared->records[job->worker];
	struct batch_job mine = *job;
	struct eh2sframe_error ignored;
	bool ok;

	mine.watch = (struct newfile_watch){worker_note_temporary, record->temporary};

	worker_set_signals(signals);
	worker_close_others(
	    fd, job->tree->start, job->sandbox ? job->sandbox->ruleset : -1);
	ok = args_set_threads(job->args->options, job->threads, &ignored);
	eh2sframe_options_on_temporary(
	    job->args->options, worker_note_temporary, record->temporary);
	ok = ok && worker_enter_sandbox(job, &record->sandbox);
	while (ok) {
		unsigned int file = atomic_fetch_add(&shared->next, 1);

		if (file >= shared->last)
			break;
		atomic_store(&record->file, file);
		ok = worker_work(&mine, file, fd);
		if (ok)
			atomic_store(&record->file, BATCH_NO_FILE);
	}
	/* Not exit(): the pool writes the buffers of stdio. */
	_exit(ok ? EH2SFRAME_DONE : EH2SFRAME_NO_MEMORY);
}

bool batch_worker_start(struct batch_worker *worker, const struct batch_job *job,
    struct batch_shared *shared, const sigset_t *signals, struct eh2sframe_error *err)
{
	pid_t parent = getpid();
	int fds[2];

	atomic_store(&shared->records[job->worker].file, BATCH_NO_FILE);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return cmd_fail_errno(err, "cannot make a pipe");
	worker->pid = fork();
	if (worker->pid < 0) {
		cmd_fail_errno(err, "cannot start a process");
		close(fds[0]);
		close(fds[1]);
		worker->pid = 0;
		return false;
	}
	if (worker->pid == 0) {
		/* When the pool is killed, its workers end, too. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(EH2SFRAME_DONE);
		worker_main(job, shared, signals, fds[1]);
	}
	close(fds[1]);
	worker->fd = fds[0];
	worker->n = 0;
	return true;
}

bool batch_worker_read(
    struct batch_worker *worker, bool *ended, struct eh2sframe_error *err)
{
	ssize_t n;

	if (!vec_reserve(&worker->bytes, &worker->cap, worker->n + BATCH_READ_SIZE))
		return cmd_fail_nomem(err);
	do
		n = read(worker->fd, worker->bytes + worker->n, BATCH_READ_SIZE);
	while (n < 0 && errno == EINTR);
	*ended = n <= 0;
	if (n > 0)
		worker->n += (size_t)n;
	return true;
}

void batch_worker_kill(struct batch_worker *worker)
{
	kill(worker->pid, SIGKILL);
	worker->broken = true;
	worker->n = 0;
}

/* Tells if a terminal can show these lines; NULL stands for none. It allocates nothing, so a lack of memory here is never
 * taken for a fault of the worker. */
static bool worker_text_is_plain(const json_t *text)
{
	const char *at = text ? json_string_value(text) : "";

	for (; *at; at++) {
		const unsigned char c = (unsigned char)at[0], next = (unsigned char)at[1];

		/* The second are the control characters of 2 bytes in UTF-8. */
		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f ||
		    (c == 0xc2 && next >= 0x80 && next < 0xa0))
			return false;
	}
	return true;
}

/* Tells it of a line in which each byte is a character of its own (report_file_add_text). */
static bool worker_line_is_plain(const json_t *line)
{
	const char *at = line ? json_string_value(line) : "";
	unsigned char last = 0;

	for (; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c > 0xc3)
			return false;
		if (c >= 0xc0)
			c = (unsigned char)((c & 3) << 6 | (*++at & 0x3f));
		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f ||
		    (c >= 0x80 && c < 0xa0 && (last < 0x80 || last == 0xc2)))
			return false;
		last = c;
	}
	return true;
}

/* True if the members that a change needs are there. The names are made plain where they are printed. */
static bool worker_changes_are_sound(const json_t *list)
{
	const json_t *change;
	size_t i;

	json_array_foreach(list, i, change)
	{
		if (!json_is_string(json_object_get(change, "what")) ||
		    !worker_text_is_plain(json_object_get(change, "what")) ||
		    !json_is_string(json_object_get(change, "name")) ||
		    !json_is_string(json_object_get(change, "reason")))
			return false;
	}
	return true;
}

static bool worker_is_sound(const json_t *report);

/* Checks the objects of an archive's members, which have no members themselves. */
static bool worker_members_are_sound(const json_t *members)
{
	const json_t *member;
	size_t i;

	json_array_foreach(members, i, member)
	{
		if (!json_is_null(member) &&
		    (json_object_get(member, "members") || !worker_is_sound(member)))
			return false;
	}
	return true;
}

/* True if this can be a report. Its figures are checked where they are added. */
static bool worker_is_sound(const json_t *report)
{
	const json_t *text = json_object_get(report, "text");
	const json_t *error = json_object_get(report, "error");
	const json_t *changes = json_object_get(report, "changes");

	return json_is_string(json_object_get(report, "path")) &&
	       json_is_integer(json_object_get(report, "status")) &&
	       (!text || json_is_string(text)) && (!error || json_is_string(error)) &&
	       worker_line_is_plain(text) && worker_text_is_plain(error) &&
	       worker_changes_are_sound(json_object_get(changes, "worse")) &&
	       worker_changes_are_sound(json_object_get(changes, "better")) &&
	       worker_members_are_sound(json_object_get(report, "members"));
}

/* Returns the report in a text, NULL without memory for it. jansson takes a want of
 * memory for an error of the text at times, so that is tried again. */
static json_t *worker_parse(const char *text, size_t size, bool *broken)
{
	json_t *report = json_loadb(text, size, 0, NULL);
	void *memory;

	if (!report)
		report = json_loadb(text, size, 0, NULL);
	memory = report ? NULL : malloc(size + 1);
	*broken = report ? !worker_is_sound(report) : memory != NULL;
	free(memory);
	if (!*broken)
		return report;
	json_decref(report);
	return NULL;
}

bool batch_worker_next(struct batch_worker *worker, size_t *file, json_t **report)
{
	struct batch_message message;
	const char *text;
	size_t size;
	bool broken;

	if (worker->n < sizeof(message))
		return false;
	memcpy(&message, worker->bytes, sizeof(message));
	if (message.size > BATCH_MAX_TEXT) {
		batch_worker_kill(worker);
		return false;
	}
	size = sizeof(message) + message.size;
	if (worker->n < size)
		return false;
	*file = message.file;
	text = (const char *)worker->bytes + sizeof(message);
	*report = worker_parse(text, message.size, &broken);
	if (broken) {
		batch_worker_kill(worker);
		return false;
	}
	memmove(worker->bytes, worker->bytes + size, worker->n - size);
	worker->n -= size;
	return true;
}

int batch_worker_wait(struct batch_worker *worker)
{
	int status = 0;

	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	close(worker->fd);
	free(worker->bytes);
	*worker = (struct batch_worker){.fd = -1};
	return status;
}
