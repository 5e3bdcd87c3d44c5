/* SPDX-License-Identifier: MIT */
/* The temporary file: where it is made, what is done when the program is told to stop,
 * its end. */
#include "gen/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/output_parts.h"

/* More than worker threads; a file beyond that is merely not removed by a signal. */
#define MAX_OUTPUTS 64

/*
 * Temporary files in existence, for the signal handler. Static, so that the handler never
 * meets freed memory; a path is complete before its state says so, and the worst of a
 * race is unlink of a name that is gone.
 */
enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };
static struct slot {
	atomic_int state;
	char path[PATH_MAX];
} slots[MAX_OUTPUTS];

/* Async-signal-safe: atomics, unlink, raise. */
static void on_signal(int sig)
{
	int saved = errno;

	for (size_t i = 0; i < MAX_OUTPUTS; i++)
		if (atomic_load(&slots[i].state) == SLOT_LIVE)
			unlink(slots[i].path);
	errno = saved;
	/* SA_RESETHAND: the default action again, as soon as this returns. */
	raise(sig);
}

/* Signals that the caller ignores or handles are the caller's. */
static void handle_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	static atomic_flag done = ATOMIC_FLAG_INIT;
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

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

/* Enters a path; -1 when there is no room. */
static int slot_enter(const char *path)
{
	size_t size = strlen(path) + 1;

	for (int i = 0; i < MAX_OUTPUTS && size <= PATH_MAX; i++) {
		int expected = SLOT_FREE;

		if (!atomic_compare_exchange_strong(
			    &slots[i].state, &expected, SLOT_TAKEN))
			continue;
		memcpy(slots[i].path, path, size);
		atomic_store(&slots[i].state, SLOT_LIVE);
		return i;
	}
	return -1;
}

/* After the rename or unlink, so that the handler at worst removes what is gone. */
static void slot_release(struct output *output)
{
	if (output->slot >= 0)
		atomic_store(&slots[output->slot].state, SLOT_FREE);
	output->slot = -1;
}

/* Where the file will be: an absolute path without symlinks, of a file that may not exist
 * yet. */
static char *resolve(const char *path, struct err *err)
{
	char *target = realpath(path, NULL), *dir, *whole = NULL;
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	struct stat st;

	if (target)
		return target;
	if (errno != ENOENT) {
		err_set_errno(err, "cannot write %s", path);
		return NULL;
	}
	if (lstat(path, &st) == 0) {
		err_set(err, ERR_UNSUPPORTED,
			"%s is a symbolic link to a file that does not exist", path);
		return NULL;
	}
	dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	target = dir ? realpath(dir, NULL) : NULL;
	if (!dir)
		err_set_nomem(err);
	else if (!target)
		err_set_errno(err, "cannot write into %s", dir);
	else if (!*base)
		err_set(err, ERR_UNSUPPORTED, "%s is not the name of a file", path);
	else if (asprintf(&whole, "%s/%s", target, base) < 0)
		err_set_nomem(err);
	free(dir);
	free(target);
	return whole;
}

/*
 * A device or a pipe cannot be replaced by a rename; a hard link would silently stay
 * behind with the old bytes under its other name.
 */
static bool check_target(const char *target, int like_fd, struct err *err)
{
	struct stat st, like;

	if (stat(target, &st) < 0)
		return errno == ENOENT ? true
				       : err_set_errno(err, "cannot stat %s", target);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is not a regular file", target);
	if (like_fd < 0 || st.st_nlink < 2)
		return true;
	if (fstat(like_fd, &like) < 0)
		return err_set_errno(err, "cannot stat the input");
	if (st.st_dev == like.st_dev && st.st_ino == like.st_ino)
		return err_set(err, ERR_UNSUPPORTED,
			"%s has %ju hard links, which rewriting it in place would part; "
			"write to "
			"another path",
			target, (uintmax_t)st.st_nlink);
	return true;
}

static bool create_temp(struct output *output, struct err *err)
{
	const char *slash = strrchr(output->target, '/');
	sigset_t all, old;
	char *temp;

	/* A name of its own, not the target's with more behind it: that might be too
	 * long. */
	if (asprintf(&temp, "%.*s/.eh2sframe.XXXXXX", (int)(slash - output->target),
		    output->target) < 0)
		return err_set_nomem(err);
	handle_signals();
	/* A signal waits until the handler knows of the file. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	output->fd = mkostemp(temp, O_CLOEXEC);
	if (output->fd >= 0) {
		output->temp = temp;
		output->slot = slot_enter(temp);
	} else {
		err_set_errno(err, "cannot create a file beside %s", output->target);
		free(temp);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return output->fd >= 0;
}

/*
 * The temporary file is made here and not at the end, so that a directory without
 * permission is found before any work is done.
 */
bool output_begin(const char *path, int like_fd, struct output *output, struct err *err)
{
	*output = (struct output){.fd = -1, .slot = -1};
	output->target = resolve(path, err);
	if (!output->target)
		return false;
	if (check_target(output->target, like_fd, err) && create_temp(output, err))
		return true;
	output_abort(output);
	return false;
}

/* A rename is on disk when the directory is; some file systems have no fsync for those.
 */
bool output_write(struct output *output, const void *bytes, size_t size, struct err *err)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t n = write(output->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set_errno(err, "cannot write %s", output->temp);
		at += n;
		size -= (size_t)n;
	}
	return true;
}

void output_written(const struct output *output)
{
	/* Only a hint: where it is not supported, fsync does all of the waiting. */
	sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

/*
 * Attributes before fsync, fsync before rename: after a crash there is the old file or
 * the new one, never a new one that is empty or has the wrong owner. The directory is not
 * synced: that would only decide which of the two, and costs as much as all the rest does
 * for a small file.
 */
bool output_commit(struct output *output, int like_fd, struct err *err)
{
	int fd = output->fd;

	if (!output_dress(fd, like_fd, err))
		return false;
	if (fsync(fd) < 0)
		return err_set_errno(err, "cannot sync %s", output->temp);
	output->fd = -1;
	if (close(fd) < 0)
		return err_set_errno(err, "cannot close %s", output->temp);
	if (rename(output->temp, output->target) < 0)
		return err_set_errno(err, "cannot rename onto %s", output->target);
	slot_release(output);
	free(output->temp);
	output->temp = NULL;
	return true;
}

/* Also the normal end: after a commit there is no temporary file left to remove. */
void output_abort(struct output *output)
{
	/* A zeroed struct has fd 0: only one with a target owns its descriptor. */
	if (output->target && output->fd >= 0)
		close(output->fd);
	if (output->temp) {
		unlink(output->temp);
		slot_release(output);
	}
	free(output->temp);
	free(output->target);
	*output = (struct output){.fd = -1, .slot = -1};
}
