/* SPDX-License-Identifier: MIT */
/* Batches in child processes, each under limits, with the number of the case in shared
 * memory. */
#include "tests/fuzz/driver/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define GUARD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD_ASAN 1
#endif
#endif
#ifdef GUARD_ASAN
#include <sanitizer/lsan_interface.h>
#endif

enum { MAX_JOBS = 64, EXIT_LEAK = 110, EXIT_MEMORY = 111 };

/* A case that waits for ever uses no processor time; it is killed after this many times
 * more. */
#define WALL_FACTOR 120

/* Cases [first, end); shared with the child, which moves at. */
struct worker {
	pid_t pid; /* 0: idle */
	size_t first, end;
	size_t at;
};

struct shift {
	const struct guard *guard;
	struct worker *workers; /* shared memory */
	unsigned int jobs;
	size_t next; /* first case not given out */
	size_t n_failed;
};

static void limit_cpu(unsigned int seconds)
{
	/* SIGPROF when the time is up, whose default action ends the process. */
	struct itimerval cpu = {.it_value.tv_sec = seconds};

	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(seconds * WALL_FACTOR);
}

static unsigned long peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (unsigned long)usage.ru_maxrss / 1024;
}

static bool leaks(void)
{
#ifdef GUARD_ASAN
	return __lsan_do_recoverable_leak_check() != 0;
#else
	return false;
#endif
}

static void child(const struct guard *guard, struct worker *worker)
{
	struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	for (worker->at = worker->first; worker->at < worker->end; worker->at++) {
		limit_cpu(guard->cpu_seconds);
		guard->run(guard->context, worker->at);
		if (peak_mib() > guard->rss_mib)
			_exit(EXIT_MEMORY);
	}
	limit_cpu(0);
	_exit(leaks() ? EXIT_LEAK : EXIT_SUCCESS);
}

static void start(struct shift *shift, struct worker *worker, size_t first, size_t end)
{
	pid_t pid;

	worker->first = worker->at = first;
	worker->end = end;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(shift->guard, worker);
	if (pid < 0) {
		perror("fork");
		exit(EXIT_FAILURE);
	}
	/* By the parent alone: the memory is shared. */
	worker->pid = pid;
}

/* Describes a wait status; NULL when all is well. */
static const char *verdict(int status, char *words, size_t size)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_LEAK)
		return "memory leaked";
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MEMORY)
		return "used more memory than allowed";
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
		return "used more processor time than allowed";
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return "did not end";
	if (WIFSIGNALED(status))
		snprintf(words, size, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(words, size, "ended with status %d", WEXITSTATUS(status));
	return words;
}

static void blame(struct shift *shift, size_t i, const char *how)
{
	shift->n_failed++;
	shift->guard->failed(shift->guard->context, i, how);
}

/* Some case of the batch leaks: each again, alone. */
static void find_leak(struct shift *shift, struct worker *worker)
{
	size_t first = worker->first, end = worker->end;
	bool found = false;
	char words[64];

	for (size_t i = first; i < end; i++) {
		const char *how;
		int status;

		start(shift, worker, i, i + 1);
		waitpid(worker->pid, &status, 0);
		how = verdict(status, words, sizeof(words));
		if (how)
			blame(shift, i, how);
		found |= how != NULL;
	}
	worker->pid = 0;
	if (!found)
		blame(
		    shift, first, "memory leaked, by this or a later case of its batch");
}

/* A batch is over: blame a case, and go on with those behind it. */
static void settle(struct shift *shift, struct worker *worker, int status)
{
	char words[64];
	const char *how = verdict(status, words, sizeof(words));
	size_t at = worker->at, end = worker->end;

	worker->pid = 0;
	if (!how)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_LEAK) {
		find_leak(shift, worker);
		return;
	}
	blame(shift, at, how);
	if (at + 1 < end)
		start(shift, worker, at + 1, end);
}

static struct worker *worker_of(struct shift *shift, pid_t pid)
{
	for (unsigned int i = 0; i < shift->jobs; i++)
		if (shift->workers[i].pid == pid)
			return &shift->workers[i];
	return NULL;
}

/* Gives every idle worker a batch; how many are at work then. */
static unsigned int hand_out(struct shift *shift)
{
	const struct guard *guard = shift->guard;
	unsigned int busy = 0;

	for (unsigned int i = 0; i < shift->jobs; i++) {
		struct worker *worker = &shift->workers[i];

		if (!worker->pid && shift->next < guard->n) {
			size_t left = guard->n - shift->next;
			size_t size = left < guard->batch ? left : guard->batch;

			start(shift, worker, shift->next, shift->next + size);
			shift->next += size;
		}
		busy += worker->pid != 0;
	}
	return busy;
}

size_t guard_run(const struct guard *guard)
{
	struct shift shift = {.guard = guard, .jobs = guard->jobs};
	size_t size;

	if (shift.jobs < 1 || shift.jobs > MAX_JOBS)
		shift.jobs = shift.jobs < 1 ? 1 : MAX_JOBS;
	size = shift.jobs * sizeof(*shift.workers);
	shift.workers =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shift.workers == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	while (hand_out(&shift)) {
		int status;
		pid_t pid = wait(&status);
		struct worker *worker = pid > 0 ? worker_of(&shift, pid) : NULL;

		if (worker) {
			settle(&shift, worker, status);
		} else if (pid < 0 && errno != EINTR) {
			perror("wait");
			exit(EXIT_FAILURE);
		}
	}
	munmap(shift.workers, size);
	return shift.n_failed;
}
