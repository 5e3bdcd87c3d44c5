/* SPDX-License-Identifier: MIT */
/* The pool: starts workers, listens to them, makes up for those that end badly. */
#include "cmd/batch/pool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/report/report.h"
#include "cmd/batch/signal.h"
#include "cmd/batch/worker.h"

/* One run of the pool. */
struct batch_crew {
	struct batch_pool *pool;
	struct batch_shared *shared;
	size_t shared_size;
	struct batch_worker *workers;
	struct pollfd *polls;
	unsigned int n, alive;
	bool dismissed;
	sigset_t signals; /* as they were before; while waiting, too */
};

static bool batch_crew_init(struct batch_crew *crew, size_t first, size_t last,
    unsigned int n, struct eh2sframe_error *err)
{
	sigset_t noted;
	void *shared;

	crew->n = n;
	crew->shared_size = sizeof(*crew->shared) + n * sizeof(crew->shared->desks[0]);
	crew->workers = calloc(n, sizeof(*crew->workers));
	crew->polls = calloc(n, sizeof(*crew->polls));
	shared = mmap(NULL, crew->shared_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!crew->workers || !crew->polls || shared == MAP_FAILED)
		return cmd_fail_nomem(err);
	crew->shared = shared;
	atomic_init(&crew->shared->next, (unsigned int)first);
	crew->shared->last = (unsigned int)last;
	/* They are noted while the pool waits, and at no other time: so none is missed.
	 */
	sigemptyset(&noted);
	sigaddset(&noted, SIGINT);
	sigaddset(&noted, SIGTERM);
	sigaddset(&noted, SIGHUP);
	sigprocmask(SIG_BLOCK, &noted, &crew->signals);
	return true;
}

/* Also in the place of one that ended. */
static bool batch_crew_start(
    struct batch_crew *crew, unsigned int i, struct eh2sframe_error *err)
{
	struct batch_job job = crew->pool->job;

	job.worker = i;
	job.token = crew->shared->desks[i].token;
	if (!batch_worker_start(
		&crew->workers[i], &job, crew->shared, &crew->signals, err))
		return false;
	crew->alive++;
	return true;
}

/* A file that has come to an end, one way or another. */
static bool batch_crew_done(
    struct batch_crew *crew, size_t file, json_t *report, struct eh2sframe_error *err)
{
	struct batch_pool *pool = crew->pool;
	bool ok =
	    report ? pool->done(pool->context, file, report, err) : cmd_fail_nomem(err);

	pool->bar->n_done++;
	pool->bar->bytes_done +=
	    (uint64_t)batch_tree_name(pool->job.tree, file)->st.st_size;
	json_decref(report);
	return ok;
}

/* A signal from a terminal ends the workers, too, and they may be heard of first. */
static bool batch_crew_stopped(const struct batch_crew *crew, int sig)
{
	const struct timespec moment = {.tv_nsec = 100 * 1000000};

	if (!batch_signal && !crew->dismissed &&
	    (sig == SIGINT || sig == SIGTERM || sig == SIGHUP))
		ppoll(NULL, 0, &moment, &crew->signals);
	return batch_signal || crew->dismissed;
}

/* A worker is gone. Where it left a file unfinished that file is the reason, and the
 * others go on with a new worker. */
static bool batch_crew_end(
    struct batch_crew *crew, unsigned int i, struct eh2sframe_error *err)
{
	unsigned int file = atomic_load(&crew->shared->desks[i].file);
	size_t heard = crew->workers[i].heard;
	int how = batch_worker_wait(&crew->workers[i]);
	int sig = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
	struct batch_job job = crew->pool->job;
	struct eh2sframe_error why;
	bool stopped = batch_crew_stopped(crew, sig);

	crew->alive--;
	if (crew->shared->desks[i].temporary[0])
		unlink(crew->shared->desks[i].temporary);
	if (file == BATCH_NO_FILE || file == heard)
		return true;
	job.token = crew->shared->desks[i].token;
	batch_one_clean(&job, file);
	if (stopped)
		return true;
	if (WIFSIGNALED(how))
		cmd_fail(&why, EH2SFRAME_BUG, "its process was ended by signal %d (%s)",
		    sig, strsignal(sig));
	else if (WEXITSTATUS(how) == EH2SFRAME_IO)
		cmd_fail(&why, EH2SFRAME_IO, "its process ran out of memory");
	else
		cmd_fail(&why, EH2SFRAME_BUG, "its process ended with status %d",
		    WEXITSTATUS(how));
	return batch_crew_done(crew, file,
		   batch_report_fail(batch_tree_name(job.tree, file)->path, &why), err) &&
	       (batch_crew_start(crew, i, err) || crew->alive);
}

/* A message may come in pieces, and a piece may be the end of one and all of others. */
static bool batch_crew_hear(
    struct batch_crew *crew, unsigned int i, struct eh2sframe_error *err)
{
	struct batch_worker *worker = &crew->workers[i];
	bool ended, ok;
	json_t *report;
	size_t file;

	ok = batch_worker_read(worker, &ended, err);
	while (ok && (report = batch_worker_next(worker, &file))) {
		worker->heard = file;
		ok = batch_crew_done(crew, file, report, err);
	}
	return ok && (!ended || batch_crew_end(crew, i, err));
}

/* The bar names the file that the first worker has. */
static void batch_crew_show(struct batch_crew *crew)
{
	struct batch_bar *bar = crew->pool->bar;

	bar->path = NULL;
	for (unsigned int i = 0; i < crew->n && !bar->path; i++) {
		unsigned int file = atomic_load(&crew->shared->desks[i].file);

		if (crew->workers[i].pid && file != BATCH_NO_FILE)
			bar->path = batch_tree_name(crew->pool->job.tree, file)->path;
	}
	batch_bar_working(bar);
}

/* Until one of them says something, a signal comes, or the bar is due. */
static bool batch_crew_wait(struct batch_crew *crew, struct eh2sframe_error *err)
{
	int patience = batch_bar_patience(crew->pool->bar), n;
	struct timespec timeout = {.tv_nsec = (long)patience * 1000000};
	bool ok = true;

	for (unsigned int i = 0; i < crew->n; i++)
		crew->polls[i] =
		    (struct pollfd){.fd = crew->workers[i].pid ? crew->workers[i].fd : -1,
			.events = POLLIN};
	n = ppoll(crew->polls, crew->n, patience < 0 ? NULL : &timeout, &crew->signals);
	if (n < 0 && errno != EINTR)
		return cmd_fail_errno(err, "cannot wait for a process");
	for (unsigned int i = 0; ok && n > 0 && i < crew->n; i++)
		if (crew->polls[i].revents)
			ok = batch_crew_hear(crew, i, err);
	batch_crew_show(crew);
	return ok;
}

/* Whatever they were at: each file is the old or the new one. */
static void batch_crew_dismiss(struct batch_crew *crew)
{
	struct eh2sframe_error ignored;

	crew->dismissed = true;
	for (unsigned int i = 0; i < crew->n; i++)
		if (crew->workers[i].pid)
			kill(crew->workers[i].pid, SIGTERM);
	for (unsigned int i = 0; i < crew->n; i++)
		if (crew->workers[i].pid && !batch_crew_end(crew, i, &ignored))
			continue;
}

bool batch_pool_run(struct batch_pool *pool, size_t first, size_t last,
    unsigned int n_workers, unsigned int jobs, struct eh2sframe_error *err)
{
	struct batch_crew crew = {.pool = pool};
	unsigned int n =
	    last - first < n_workers ? (unsigned int)(last - first) : n_workers;
	uint64_t all = pool->bar->n_done + (last - first);
	bool ok = batch_crew_init(&crew, first, last, n, err);

	pool->job.threads = jobs;
	/* With fewer than wanted it takes longer, no more. */
	for (unsigned int i = 0; ok && i < n; i++)
		ok = batch_crew_start(&crew, i, err) || i > 0;
	while (ok && crew.alive && !batch_signal)
		ok = batch_crew_wait(&crew, err);
	if (crew.alive)
		batch_crew_dismiss(&crew);
	/* Of a worker that was killed between two files nobody knows which is next. */
	if (ok && !batch_signal && pool->bar->n_done != all)
		ok = cmd_fail(err, EH2SFRAME_BUG,
		    "processes were ended from outside; run it again for the %" PRIu64
		    " files that are left",
		    all - pool->bar->n_done);
	if (crew.shared) {
		sigprocmask(SIG_SETMASK, &crew.signals, NULL);
		munmap(crew.shared, crew.shared_size);
	}
	free(crew.workers);
	free(crew.polls);
	return ok;
}
