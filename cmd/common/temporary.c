/* SPDX-License-Identifier: MIT */
/* The temporary files that the signal handler removes. */
#include "cmd/common/temporary.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* More than worker threads; a signal does not remove a file beyond that. */
#define MAX_FILES 1100

/*
 * Static, so that the handler never meets freed memory. A path is complete before its
 * state says so; the worst of a race is an unlink of a name that is gone.
 */
enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };
static struct slot {
	atomic_int state;
	char path[PATH_MAX];
} slots[MAX_FILES];

/* Async-signal-safe: atomics, unlink, raise. */
static void temporary_on_signal(int sig)
{
	int saved = errno;

	for (size_t i = 0; i < MAX_FILES; i++)
		if (atomic_load(&slots[i].state) == SLOT_LIVE)
			unlink(slots[i].path);
	errno = saved;
	/* SA_RESETHAND: the default action again, as soon as this returns. */
	raise(sig);
}

/* Leave signals that the caller ignores or handles. */
static void temporary_handle_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	static atomic_flag done = ATOMIC_FLAG_INIT;
	struct sigaction action = {
	    .sa_handler = temporary_on_signal, .sa_flags = (int)SA_RESETHAND};

	if (atomic_flag_test_and_set(&done))
		return;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		if (sigaction(signals[i], NULL, &old) == 0 &&
		    !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
}

static void temporary_enter(const char *path)
{
	size_t size = strlen(path) + 1;

	for (size_t i = 0; i < MAX_FILES && size <= PATH_MAX; i++) {
		int expected = SLOT_FREE;

		if (!atomic_compare_exchange_strong(
			&slots[i].state, &expected, SLOT_TAKEN))
			continue;
		memcpy(slots[i].path, path, size);
		atomic_store(&slots[i].state, SLOT_LIVE);
		return;
	}
}

/* Only the thread that entered a path removes it, and no other has the same path. */
static void temporary_leave(const char *path)
{
	for (size_t i = 0; i < MAX_FILES; i++) {
		if (atomic_load(&slots[i].state) != SLOT_LIVE ||
		    strcmp(slots[i].path, path) != 0)
			continue;
		atomic_store(&slots[i].state, SLOT_FREE);
		return;
	}
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
