/* SPDX-License-Identifier: MIT */
/* Functions that programs find here instead of in libc, and that call those of libc. */
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

static int calls_sigaction(
    int number, const struct sigaction *action, struct sigaction *old)
{
	static int (*next)(int, const struct sigaction *, struct sigaction *);

	if (!next)
		*(void **)&next = preload_next("sigaction");
	return next(number, action, old);
}

static bool calls_handles(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* A thread has a stack for handlers on which this one has no room above another one. */
static bool calls_small;

PRELOAD_API int sigaction(
    int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction masked;

	if (!calls_ours(number, action && calls_handles(action))) {
		if (!action || !calls_handles(action) ||
		    !(action->sa_flags & SA_ONSTACK) ||
		    !__atomic_load_n(&calls_small, __ATOMIC_RELAXED))
			return calls_sigaction(number, action, old);
		masked = *action;
		sigaddset(&masked.sa_mask, SHARED_SIGNAL);
		return calls_sigaction(number, &masked, old);
	}
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

/* What the handler takes of a stack, beside the frame of the kernel. */
enum { CALLS_HANDLER = 1024 };
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* From now on samples wait until a handler on such a stack has ended. */
static void calls_mask(void)
{
	struct sigaction action;

	if (__atomic_exchange_n(&calls_small, true, __ATOMIC_RELAXED))
		return;
	for (int number = 1; number < NSIG; number++) {
		if (number == SHARED_SIGNAL ||
		    calls_sigaction(number, NULL, &action) != 0 ||
		    !calls_handles(&action) || !(action.sa_flags & SA_ONSTACK))
			continue;
		sigaddset(&action.sa_mask, SHARED_SIGNAL);
		calls_sigaction(number, &action, NULL);
	}
}

/* Where a stack for handlers has no room for this one, the kernel would end the program. */
PRELOAD_API int sigaltstack(const stack_t *stack, stack_t *old)
{
	static int (*next)(const stack_t *, stack_t *);
	size_t frame = getauxval(AT_MINSIGSTKSZ);

	if (!next)
		*(void **)&next = preload_next("sigaltstack");
	if (frame < 2048)
		frame = 2048;
	if (stack && !(stack->ss_flags & SS_DISABLE) && preload_samples()) {
		if (stack->ss_size < frame + CALLS_HANDLER)
			preload_give_up();
		else if (stack->ss_size < 4 * frame + CALLS_HANDLER)
			calls_mask();
	}
	return next(stack, old);
}

/* What the program runs next has the filter, too, and must not begin to be recorded. */
static void calls_filter(void)
{
	preload_give_up();
	unsetenv(SHARED_VARIABLE);
}

/* A filter of system calls does not know those of the handler, and may end the program for one. */
PRELOAD_API int prctl(int option, ...)
{
	static int (*next)(
	    int, unsigned long, unsigned long, unsigned long, unsigned long);
	unsigned long word[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		word[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (!next)
		*(void **)&next = preload_next("prctl");
	if (option == PR_SET_SECCOMP && preload_samples())
		calls_filter();
	return next(option, word[0], word[1], word[2], word[3]);
}

/* libseccomp installs its filters so. start() is the first to call this. */
PRELOAD_API long syscall(long number, ...)
{
	static long (*next)(long, long, long, long, long, long, long);
	long word[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(ap, long);
	va_end(ap);
	if (!next)
		*(void **)&next = preload_next("syscall");
	if (((number == SYS_seccomp && word[0] <= SECCOMP_SET_MODE_FILTER) ||
		(number == SYS_prctl && word[0] == PR_SET_SECCOMP)) &&
	    preload_samples())
		calls_filter();
	return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
