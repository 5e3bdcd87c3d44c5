/* SPDX-License-Identifier: MIT */
/* Threads, and the same work without them. */
#include "base/task.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum { TASK_MAX_ALL = 64, TASK_STACK = 1 << 20 };
/* Items that a worker takes at a time. */
enum { TASK_CHUNK = 16 };

static void *task_main(void *task)
{
	struct task *self = task;

	self->run(self->context);
	return NULL;
}

/* As much as the work needs, with sanitizers, too. The default follows the limit of the
 * program's stack, which may be small. */
static bool task_create(struct task *task)
{
	pthread_attr_t attr;
	bool created;

	if (pthread_attr_init(&attr) != 0)
		return false;
	created = pthread_attr_setstacksize(&attr, TASK_STACK) == 0 &&
		  pthread_create(&task->thread, &attr, task_main, task) == 0;
	pthread_attr_destroy(&attr);
	return created;
}

void task_start(struct task *task, void (*run)(void *context), void *context)
{
	/* A fault whose signal is blocked ends the process, past the caller's handler. */
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	sigset_t all, before;

	*task = (struct task){.run = run, .context = context};
	/* Signals go to the thread of main, which may wait for one. */
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	task->running = task_create(task);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!task->running)
		run(context);
}

void task_wait(struct task *task)
{
	if (task->running)
		pthread_join(task->thread, NULL);
	task->running = false;
}

void task_run_all(void (*run)(void *context), void *contexts, size_t size, size_t n)
{
	struct task tasks[TASK_MAX_ALL];
	size_t n_tasks = n < TASK_MAX_ALL ? n : TASK_MAX_ALL;
	char *context = contexts;

	/* The caller does the last one's work, and that of tasks without a thread. */
	for (size_t i = 0; i + 1 < n_tasks; i++)
		task_start(&tasks[i], run, context + i * size);
	for (size_t i = n_tasks ? n_tasks - 1 : 0; i < n; i++)
		run(context + i * size);
	for (size_t i = 0; i + 1 < n_tasks; i++)
		task_wait(&tasks[i]);
}

struct task_shared {
	bool (*one)(void *context, void *worker, size_t item);
	void *context;
	size_t n_items;
	atomic_size_t next;
	atomic_bool failed;
};

struct task_worker {
	struct task_shared *shared;
	void *worker;
};

static void task_work(void *context)
{
	const struct task_worker *self = context;
	struct task_shared *shared = self->shared;

	while (!atomic_load(&shared->failed)) {
		size_t first = atomic_fetch_add(&shared->next, TASK_CHUNK);

		if (first >= shared->n_items)
			return;
		for (size_t i = first; i < first + TASK_CHUNK && i < shared->n_items; i++)
			if (!shared->one(shared->context, self->worker, i))
				atomic_store(&shared->failed, true);
	}
}

bool task_share(bool (*one)(void *context, void *worker, size_t item), void *context,
    void *workers, size_t size, size_t n_workers, size_t n_items)
{
	struct task_shared shared = {.one = one, .context = context, .n_items = n_items};
	struct task_worker list[TASK_MAX_ALL];
	size_t n = n_workers < TASK_MAX_ALL ? n_workers : TASK_MAX_ALL;

	for (size_t i = 0; i < n; i++)
		list[i] = (struct task_worker){&shared, (char *)workers + i * size};
	task_run_all(task_work, list, sizeof(*list), n);
	return !atomic_load(&shared.failed);
}

unsigned int task_processors(void)
{
	cpu_set_t set;
	int n;

	/* More processors than a set has room for are an error of the call. */
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	n = CPU_COUNT(&set);
	return n > 0 ? (unsigned int)n : 1;
}
