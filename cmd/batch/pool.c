/* SPDX-License-Identifier: MIT */
/* The pool starts workers, reads their reports, and cleans up after those that end badly. */
#include "cmd/batch/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "base/program/temporary.h"
#include "cmd/report/report.h"
#include "cmd/batch/worker.h"

/* One run of the pool. */
struct pool_run {
	struct batch_pool *pool;
	struct batch_shared *shared;
	size_t shared_size;
	struct batch_worker *workers;
	struct pollfd *polls;
	unsigned int n, alive;
	size_t first, last; /* the files */
	bool *seen;	    /* of each file: it is finished */
	size_t n_broken;    /* workers that were killed for what they sent */
	bool ending;
	sigset_t signals; /* the mask from before; also used while waiting */
};

static bool pool_init(struct pool_run *run, size_t first, size_t last, unsigned int n,
    struct eh2sframe_error *err)
{
	sigset_t noted;
	void *shared;

	run->n = n;
	run->first = first;
	run->last = last;
	run->seen = calloc(last - first, sizeof(*run->seen));
	run->shared_size = sizeof(*run->shared) + n * sizeof(run->shared->records[0]);
	run->workers = calloc(n, sizeof(*run->workers));
	run->polls = calloc(n, sizeof(*run->polls));
	shared = mmap(NULL, run->shared_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!run->workers || !run->polls || !run->seen || shared == MAP_FAILED)
		return cmd_fail_nomem(err);
	run->shared = shared;
	atomic_init(&run->shared->next, (unsigned int)first);
	run->shared->last = (unsigned int)last;
	/* Signals stay blocked except while the pool waits, so none is missed. */
	temporary_signal_set(&noted);
	sigprocmask(SIG_BLOCK, &noted, &run->signals);
	return true;
}

/* Starts a worker, also in the place of one that ended. */
static bool pool_start_worker(
    struct pool_run *run, unsigned int i, struct eh2sframe_error *err)
{
	struct batch_job job = run->pool->job;

	job.worker = i;
	if (!batch_worker_start(&run->workers[i], &job, run->shared, &run->signals, err))
		return false;
	run->alive++;
	return true;
}

/* A file is finished, whatever the result. */
static bool pool_file_done(
    struct pool_run *run, size_t file, json_t *report, struct eh2sframe_error *err)
{
	struct batch_pool *pool = run->pool;
	bool ok = pool->done(pool->context, file, report, err);

	run->seen[file - run->first] = true;
	pool->bar->n_done++;
	pool->bar->bytes_done +=
	    (uint64_t)batch_tree_name(pool->job.tree, file)->st.st_size;
	json_decref(report);
	return ok;
}

/* A signal from a terminal ends the workers, too, and their end may be seen first. */
static bool pool_is_stopped(const struct pool_run *run, int sig)
{
	const struct timespec moment = {.tv_nsec = 100 * 1000000};
	sigset_t noted;

	temporary_signal_set(&noted);
	if (!batch_signal && !run->ending && sigismember(&noted, sig) == 1)
		ppoll(NULL, 0, &moment, &run->signals);
	return batch_signal || run->ending;
}

/* True if a worker may say something of this file. */
static bool pool_is_open(const struct pool_run *run, size_t file)
{
	return file >= run->first && file < run->last && !run->seen[file - run->first];
}

/* Removes what a worker left of a file. The name in the record may have no end. It is copied first: another
 * worker that was taken over could change it between a check and its use. */
static void pool_clean(struct pool_run *run, unsigned int i, size_t file)
{
	const struct batch_record *record = &run->shared->records[i];
	char temporary[sizeof(record->temporary)];

	memcpy(temporary, record->temporary, sizeof(temporary));
	temporary[sizeof(temporary) - 1] = '\0';
	batch_file_clean(run->pool->job.tree, file, temporary);
}

/* Says why a file is not finished. */
static void pool_blame(int how, bool broken, struct eh2sframe_error *why)
{
	int sig = WIFSIGNALED(how) ? WTERMSIG(how) : 0;

	if (broken)
		cmd_fail(why, EH2SFRAME_BUG, "%s",
		    "its process sent a report that makes no sense, and was ended; "
		    "report this with the file");
	else if (sig == SIGSYS)
		cmd_fail(why, EH2SFRAME_BUG,
		    "the sandbox ended its process: it made a system call that no "
		    "conversion needs; where the file can be trusted, --sandbox=off "
		    "does without");
	/* SIGBUS comes from reading mapped bytes that are gone. On these machines nothing else ends so. */
	else if (sig == SIGBUS)
		cmd_fail(why, EH2SFRAME_IO,
		    "shrank while it was read, or cannot be read; left as it is, run "
		    "again");
	else if (sig)
		cmd_fail(why, EH2SFRAME_BUG,
		    "signal %d (%s) ended its process; report this with the file", sig,
		    strsignal(sig));
	else if (WEXITSTATUS(how) == EH2SFRAME_NO_MEMORY)
		cmd_fail(why, EH2SFRAME_NO_MEMORY,
		    "its process ran out of memory; give a smaller -j");
	else
		cmd_fail(why, EH2SFRAME_BUG,
		    "its process ended with status %d; report this with the file",
		    WEXITSTATUS(how));
}

/* A worker that has no file ended because there is none left, or before the first. */
static bool pool_ended_idle(
    const struct pool_run *run, unsigned int i, int how, struct eh2sframe_error *err)
{
	if (!WIFEXITED(how) || WEXITSTATUS(how) == EH2SFRAME_DONE)
		return true;
	if (WEXITSTATUS(how) == EH2SFRAME_NO_MEMORY)
		return cmd_fail_nomem(err);
	return run->pool->job.args->sandbox != ARGS_SANDBOX_ON ||
	       sandbox_whole(&run->shared->records[i].sandbox, err);
}

/* Replaces a worker that was killed for what it sent. Its files are not known, so it may
 * not have a successor for ever. */
static bool pool_replace_broken(
    struct pool_run *run, unsigned int i, struct eh2sframe_error *err)
{
	return ++run->n_broken > run->last - run->first ||
	       pool_start_worker(run, i, err) || run->alive;
}

/* A worker is gone. When it left a file unfinished, that file fails, and a new worker
 * converts the others. */
static bool pool_worker_ended(
    struct pool_run *run, unsigned int i, struct eh2sframe_error *err)
{
	bool broken = run->workers[i].broken;
	int how = batch_worker_wait(&run->workers[i]);
	unsigned int file = atomic_load(&run->shared->records[i].file);
	struct eh2sframe_error why;
	bool stopped = pool_is_stopped(run, WIFSIGNALED(how) ? WTERMSIG(how) : 0);

	run->alive--;
	if (pool_is_open(run, file)) {
		pool_clean(run, i, file);
		if (stopped)
			return true;
		pool_blame(how, broken, &why);
		if (!pool_file_done(run, file,
			report_file_failed(
			    batch_tree_name(run->pool->job.tree, file)->path, &why),
			err))
			return false;
	} else if (!broken || stopped) {
		return stopped || file != BATCH_NO_FILE ||
		       pool_ended_idle(run, i, how, err);
	}
	if (broken)
		return pool_replace_broken(run, i, err);
	return pool_start_worker(run, i, err) || run->alive;
}

/* A message may come in pieces, and a piece may end one message and hold others. */
static bool pool_read_worker(
    struct pool_run *run, unsigned int i, struct eh2sframe_error *err)
{
	struct batch_worker *worker = &run->workers[i];
	bool ended, ok;
	json_t *report;
	size_t file;

	ok = batch_worker_read(worker, &ended, err);
	while (ok && batch_worker_next(worker, &file, &report)) {
		if (!pool_is_open(run, file)) {
			json_decref(report);
			batch_worker_kill(worker);
			break;
		}
		ok = pool_file_done(run, file, report, err);
	}
	return ok && (!ended || pool_worker_ended(run, i, err));
}

/* The bar names the file that the first worker has. */
static void pool_show_progress(struct pool_run *run)
{
	struct batch_bar *bar = run->pool->bar;

	bar->path = NULL;
	for (unsigned int i = 0; i < run->n && !bar->path; i++) {
		unsigned int file = atomic_load(&run->shared->records[i].file);

		if (run->workers[i].pid && pool_is_open(run, file))
			bar->path = batch_tree_name(run->pool->job.tree, file)->path;
	}
	batch_bar_working(bar);
}

/* Waits until a worker sends something, a signal comes, or the bar is due. */
static bool pool_wait(struct pool_run *run, struct eh2sframe_error *err)
{
	int patience = batch_bar_patience(run->pool->bar), n;
	struct timespec timeout = {.tv_nsec = (long)patience * 1000000};
	bool ok = true;

	for (unsigned int i = 0; i < run->n; i++)
		run->polls[i] =
		    (struct pollfd){.fd = run->workers[i].pid ? run->workers[i].fd : -1,
			.events = POLLIN};
	n = ppoll(run->polls, run->n, patience < 0 ? NULL : &timeout, &run->signals);
	if (n < 0 && errno != EINTR)
		return cmd_fail_errno(err, "cannot wait for a process");
	for (unsigned int i = 0; ok && n > 0 && i < run->n; i++)
		if (run->polls[i].revents)
			ok = pool_read_worker(run, i, err);
	pool_show_progress(run);
	return ok;
}

/* Ends the workers at any point: each file is the old or the new one. */
static void pool_end_workers(struct pool_run *run)
{
	struct eh2sframe_error ignored;

	run->ending = true;
	for (unsigned int i = 0; i < run->n; i++)
		if (run->workers[i].pid)
			kill(run->workers[i].pid, SIGTERM);
	for (unsigned int i = 0; i < run->n; i++)
		if (run->workers[i].pid && !pool_worker_ended(run, i, &ignored))
			continue;
}

bool batch_pool_run(struct batch_pool *pool, size_t first, size_t last,
    unsigned int n_workers, unsigned int jobs, struct eh2sframe_error *err)
{
	struct pool_run run = {.pool = pool};
	unsigned int n =
	    last - first < n_workers ? (unsigned int)(last - first) : n_workers;
	uint64_t all = pool->bar->n_done + (last - first);
	bool ok = pool_init(&run, first, last, n, err);

	pool->job.threads = jobs;
	/* With fewer workers it only takes longer. */
	for (unsigned int i = 0; ok && i < n; i++)
		ok = pool_start_worker(&run, i, err) || i > 0;
	while (ok && run.alive && !batch_signal)
		ok = pool_wait(&run, err);
	if (run.alive)
		pool_end_workers(&run);
	/* When a worker was killed between 2 files, its next file is not known. */
	if (ok && !batch_signal && pool->bar->n_done != all)
		ok = cmd_fail(err, EH2SFRAME_BUG,
		    "%s; run the command again for the %" PRIu64 " file%s left",
		    run.n_broken ? "processes sent reports that make no sense"
				 : "another program ended the processes",
		    all - pool->bar->n_done, num_s(all - pool->bar->n_done));
	if (run.shared) {
		if (run.shared->records[0].sandbox.tried)
			pool->sandbox = run.shared->records[0].sandbox;
		sigprocmask(SIG_SETMASK, &run.signals, NULL);
		munmap(run.shared, run.shared_size);
	}
	free(run.workers);
	free(run.polls);
	free(run.seen);
	return ok;
}
