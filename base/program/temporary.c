/* SPDX-License-Identifier: MIT */
/* The temporary files that the signal handler removes. */
#include "base/program/temporary.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/program/fail.h"
#include "include/eh2sframe.h"

/* A process writes one output and its report. */
enum { MAX_FILES = 4 };

/*
 * Static, so that the handler never meets freed memory. A path is complete before its
 * slot is live; the worst of a race is an unlink of a name that is gone.
 */
static struct slot {
	atomic_bool live;
	char path[PATH_MAX];
} slots[MAX_FILES];

const int temporary_signals[TEMPORARY_N_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT,
    SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2};

void temporary_signal_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < TEMPORARY_N_SIGNALS; i++)
		sigaddset(set, temporary_signals[i]);
}

/* Async-signal-safe. */
static void temporary_remove(void)
{
	int saved = errno;

	for (size_t i = 0; i < MAX_FILES; i++)
		if (atomic_load(&slots[i].live))
			unlink(slots[i].path);
	errno = saved;
}

static void temporary_on_signal(int sig)
{
	temporary_remove();
	/* SA_RESETHAND: the default action again, as soon as this returns. */
	raise(sig);
}

/* Sets an action for signals, but leaves those that the caller ignores or handles; a sanitizer handles faults. */
static void temporary_handle(const int *signals, size_t n, struct sigaction *action)
{
	struct sigaction old;

	sigemptyset(&action->sa_mask);
	for (size_t i = 0; i < n; i++)
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], action, NULL);
}

static void temporary_handle_signals(void)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;
	struct sigaction action = {
	    .sa_handler = temporary_on_signal, .sa_flags = (int)SA_RESETHAND};

	if (!atomic_flag_test_and_set(&done))
		temporary_handle(temporary_signals, TEMPORARY_N_SIGNALS, &action);
}

static void temporary_enter(const char *path)
{
	size_t size = strlen(path) + 1;

	for (size_t i = 0; i < MAX_FILES && size <= PATH_MAX; i++) {
		if (atomic_load(&slots[i].live))
			continue;
		memcpy(slots[i].path, path, size);
		atomic_store(&slots[i].live, true);
		return;
	}
}

static void temporary_leave(const char *path)
{
	for (size_t i = 0; i < MAX_FILES; i++)
		if (atomic_load(&slots[i].live) && strcmp(slots[i].path, path) == 0)
			atomic_store(&slots[i].live, false);
}

void temporary_note(void *context, const char *path, bool exists)
{
	(void)context;
	if (exists) {
		temporary_handle_signals();
		temporary_enter(path);
	} else {
		temporary_leave(path);
	}
}

/* Stack for the handler of a fault, which may be an overflow of the main one. */
enum { FAULT_STACK = 64 << 10, FAULT_NEAR = 1 << 20 };
enum { N_FAULT_SIGNALS = 5 };
static const int fault_signals[N_FAULT_SIGNALS] = {
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
static struct {
	uintptr_t stack_end, stack_size; /* of the main thread; the end is the top */
	atomic_bool converted;
} fault;

/* True if the address is one that the main thread's stack would have grown to: below the
 * environment and above what one function may leave out. */
static bool fault_is_stack(const siginfo_t *info)
{
	uintptr_t addr = (uintptr_t)info->si_addr;

	return info->si_code > 0 && addr < fault.stack_end &&
	       fault.stack_end - addr < fault.stack_size + 2 * FAULT_NEAR;
}

/* Async-signal-safe: no stdio. */
static void fault_on_signal(int sig, siginfo_t *info, void *context)
{
	static atomic_flag first = ATOMIC_FLAG_INIT;
	const char *text =
	    "eh2sframe: a bug: a fault ended the program; report this with the file\n";
	int status = EH2SFRAME_BUG;

	(void)context;
	/* Another thread has printed its fault first, and ends both. */
	if (atomic_flag_test_and_set(&first)) {
		poll(NULL, 0, 1000);
		_exit(status);
	}
	temporary_remove();
	if (sig == SIGSEGV && fault_is_stack(info)) {
		text = "eh2sframe: out of memory: the stack is too small; see "
		       "\"ulimit -s\"\n";
		status = EH2SFRAME_NO_MEMORY;
	} else if (sig == SIGBUS && info->si_code > 0) {
		text = "eh2sframe: a file shrank while it was read, or cannot be read; "
		       "run again when no program changes it\n";
		status = EH2SFRAME_IO;
	}
	(void)!write(STDERR_FILENO, text, strlen(text));
	_exit(atomic_load(&fault.converted) ? PRINT_NOT_TOLD : status);
}

void temporary_handle_faults(void)
{
	static char stack[FAULT_STACK];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {
	    .sa_sigaction = fault_on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || sigaltstack(&other, NULL) != 0)
		return;
	fault.stack_end = (uintptr_t)__builtin_frame_address(0) + FAULT_NEAR;
	fault.stack_size = limit.rlim_cur;
	temporary_handle(fault_signals, N_FAULT_SIGNALS, &action);
}

void temporary_leave_faults(void)
{
	for (size_t i = 0; i < N_FAULT_SIGNALS; i++) {
		struct sigaction old;

		if (sigaction(fault_signals[i], NULL, &old) == 0 &&
		    (old.sa_flags & SA_SIGINFO) && old.sa_sigaction == fault_on_signal)
			signal(fault_signals[i], SIG_DFL);
	}
}

void temporary_converted(void)
{
	atomic_store(&fault.converted, true);
}
