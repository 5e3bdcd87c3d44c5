/* SPDX-License-Identifier: MIT */
/* Functions that programs find here instead of in libc, and that call those of libc. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "profile/preload/preload.h"

/*
 * Where libc looks for a file depends on who calls it. So these are jumps: the compiler gets
 * -foptimize-sibling-calls. The recorder learns of such a file from the first sample in it.
 */
PRELOAD_API void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *, int);
	void *handle;

	if (!next)
		*(void **)&next = preload_next("dlopen");
	if (!preload_samples() || !path || !strchr(path, '/') || strchr(path, '$') ||
	    flags & RTLD_NOLOAD)
		return next(path, flags);
	handle = next(path, flags);
	preload_mapped();
	return handle;
}

PRELOAD_API int dlclose(void *handle)
{
	static int (*next)(void *);
	int status;

	if (!next)
		*(void **)&next = preload_next("dlclose");
	status = next(handle);
	/* Another file may get the place. */
	preload_mapped();
	return status;
}

struct calls_thread {
	void *(*start)(void *);
	void *argument;
};

static void *calls_run(void *value)
{
	struct calls_thread thread = *(struct calls_thread *)value;

	free(value);
	if (preload_samples())
		preload_thread(0);
	return thread.start(thread.argument);
}

PRELOAD_API int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
    void *(*start)(void *), void *argument)
{
	static int (*next)(
	    pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct calls_thread *thread = preload_samples() ? malloc(sizeof(*thread)) : NULL;
	int status;

	if (!next)
		*(void **)&next = preload_next("pthread_create");
	if (!thread)
		return next(id, attributes, start, argument);
	*thread = (struct calls_thread){start, argument};
	status = next(id, attributes, calls_run, thread);
	if (status != 0)
		free(thread);
	return status;
}

struct calls_c_thread {
	thrd_start_t start;
	void *argument;
};

static int calls_run_c(void *value)
{
	struct calls_c_thread thread = *(struct calls_c_thread *)value;

	free(value);
	if (preload_samples())
		preload_thread(0);
	return thread.start(thread.argument);
}

PRELOAD_API int thrd_create(thrd_t *id, thrd_start_t start, void *argument)
{
	static int (*next)(thrd_t *, thrd_start_t, void *);
	struct calls_c_thread *thread =
	    preload_samples() ? malloc(sizeof(*thread)) : NULL;
	int status;

	if (!next)
		*(void **)&next = preload_next("thrd_create");
	if (!thread)
		return next(id, start, argument);
	*thread = (struct calls_c_thread){start, argument};
	status = next(id, calls_run_c, thread);
	if (status != thrd_success)
		free(thread);
	return status;
}

/* Whether a program asks for the signal. One that resets all signals gets no harm by it. */
static bool calls_ours(int number, bool handles)
{
	if (number != SHARED_SIGNAL || !preload_samples())
		return false;
	if (handles)
		preload_give_up();
	return !handles;
}

PRELOAD_API int sigaction(
    int number, const struct sigaction *action, struct sigaction *old)
{
	static int (*next)(int, const struct sigaction *, struct sigaction *);

	if (!next)
		*(void **)&next = preload_next("sigaction");
	if (!calls_ours(number,
		action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN))
		return next(number, action, old);
	if (old)
		*old = (struct sigaction){.sa_handler = SIG_DFL};
	return 0;
}

PRELOAD_API void (*signal(int number, void (*handler)(int)))(int)
{
	static void (*(*next)(int, void (*)(int)))(int);

	if (!next)
		*(void **)&next = preload_next("signal");
	if (!calls_ours(number, handler != SIG_DFL && handler != SIG_IGN))
		return next(number, handler);
	return SIG_DFL;
}

/* A thread that waits for all signals gets the program's alone. */
static sigset_t calls_without(const sigset_t *set)
{
	sigset_t others = *set;

	if (preload_samples())
		sigdelset(&others, SHARED_SIGNAL);
	return others;
}

PRELOAD_API int sigwait(const sigset_t *set, int *number)
{
	static int (*next)(const sigset_t *, int *);
	sigset_t others = calls_without(set);

	if (!next)
		*(void **)&next = preload_next("sigwait");
	return next(&others, number);
}

PRELOAD_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	static int (*next)(const sigset_t *, siginfo_t *);
	sigset_t others = calls_without(set);

	if (!next)
		*(void **)&next = preload_next("sigwaitinfo");
	return next(&others, info);
}

PRELOAD_API int sigtimedwait(
    const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
	static int (*next)(const sigset_t *, siginfo_t *, const struct timespec *);
	sigset_t others = calls_without(set);

	if (!next)
		*(void **)&next = preload_next("sigtimedwait");
	return next(&others, info, limit);
}
