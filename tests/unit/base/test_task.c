/* SPDX-License-Identifier: MIT */
/* All work beside the caller's is done once, and its results are visible afterwards. */
#include "base/task.h"
#include "tests/unit/unit.h"

#include <signal.h>

struct job {
	int runs;
	bool signals_off;
	long sum;
};

static void work(void *context)
{
	struct job *job = context;
	sigset_t now;

	job->runs++;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	job->signals_off = sigismember(&now, SIGTERM) == 1;
	for (long i = 1; i <= 1000; i++)
		job->sum += i;
}

/* There may be more jobs than threads. */
UNIT_LOOP(all_done, 0, 8)
{
	enum { MAX = 200 };
	static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, MAX};
	struct job jobs[MAX] = {0};
	size_t n = sizes[_i];

	task_run_all(work, jobs, sizeof(jobs[0]), n);
	for (size_t i = 0; i < MAX; i++) {
		ck_assert_int_eq(jobs[i].runs, i < n);
		ck_assert_int_eq(jobs[i].sum, i < n ? 500500 : 0);
	}
}

UNIT(waits)
{
	struct task never = {0}, task;
	struct job job = {0};

	task_wait(&never);
	task_start(&task, work, &job);
	task_wait(&task);
	ck_assert_int_eq(job.runs, 1);
	task_wait(&task);
	ck_assert_int_eq(job.runs, 1);
	/* The handler that removes a temporary file must run in the main thread. */
	ck_assert(job.signals_off);
	ck_assert_uint_ge(task_processors(), 1);
}

static void measure(void *context)
{
	size_t *size = context;
	pthread_attr_t attr;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstacksize(&attr, size);
	pthread_attr_destroy(&attr);
}

/* Whatever the stack of a new thread is by default. */
UNIT(stack)
{
	pthread_attr_t attr;
	struct task task;
	size_t size = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	ck_assert_int_eq(pthread_setattr_default_np(&attr), 0);
	task_start(&task, measure, &size);
	ck_assert(task.running);
	task_wait(&task);
	ck_assert_uint_ge(size, 1 << 20);
	pthread_attr_destroy(&attr);
}
