/* SPDX-License-Identifier: MIT */
/* The temporary file: where it is made, how the watch hears of it, how it ends. How it gets its names is in
 * newfile_names.c. */
#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile_internal.h"
#include "base/regular.h"

/* Names tried before the directory is given up. */
#define MAX_NAMES 100

void newfile_notify(const struct newfile *output, bool exists)
{
	if (output->watch.changed)
		output->watch.changed(output->watch.context, output->temp, exists);
}

const char *newfile_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* An absolute path without symlinks, of a file that may not exist yet. */
static char *resolve_absolute(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/'), *base = newfile_base(path);
	char *target = NULL, *dir, *whole = NULL;
	struct stat st, now;

	/* realpath only reads links; stat follows them, which the kernel may forbid (protected_symlinks). */
	if (stat(path, &st) == 0)
		target = realpath(path, NULL);
	if (target) {
		if (lstat(target, &now) == 0 && now.st_dev == st.st_dev &&
		    now.st_ino == st.st_ino)
			return target;
		free(target);
		errno = EBUSY;
	}
	if (errno != ENOENT) {
		err_set_errno(err, "cannot write %s", path);
		return NULL;
	}
	if (lstat(path, &st) == 0) {
		err_set(err, ERR_UNSUPPORTED,
		    "%s is a symbolic link that leads nowhere; name a file", path);
		return NULL;
	}
	dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	target = dir ? realpath(dir, NULL) : NULL;
	if (!dir)
		err_set_nomem(err);
	else if (!target)
		err_set_errno(err, "cannot write into %s", dir);
	else if (!*base)
		err_set(err, ERR_UNSUPPORTED, "%s is no file name; give one", path);
	else if (asprintf(&whole, "%s/%s", target, base) < 0)
		err_set_nomem(err);
	free(dir);
	free(target);
	return whole;
}

/* Returns the path of the new file: as resolve_absolute, or a name in the directory of the process. */
static char *newfile_resolve(const char *path, struct err *err)
{
	struct stat st;
	char *name;

	/* An absolute path could be that of a directory which is in this one's place by then. */
	if (strchr(path, '/') || !*path ||
	    (lstat(path, &st) == 0 ? S_ISLNK(st.st_mode) : errno != ENOENT))
		return resolve_absolute(path, err);
	name = strdup(path);
	if (!name)
		err_set_nomem(err);
	return name;
}

/* True if a new file at the target would take the input's place, also where another file
 * is there by now, or none. */
static bool is_in_place(const struct newfile *output)
{
	const struct newfile_input *input = output->input;
	struct err ignored;
	struct stat st;
	char *path;
	bool same;

	if (!input || input->fd < 0)
		return false;
	if (input->names.n ||
	    (stat(output->target, &st) == 0 && st.st_dev == input->was.st_dev &&
		st.st_ino == input->was.st_ino))
		return true;
	path = input->path ? resolve_absolute(output->target, &ignored) : NULL;
	same = path && strcmp(path, input->path) == 0;
	free(path);
	return same;
}

/*
 * A rename cannot replace a device or a pipe. A hard link would silently keep the old
 * bytes under its other name.
 */
static bool check_target(struct newfile *output, struct err *err)
{
	const struct newfile_input *input = output->input;
	const bool named = input && input->names.n;
	const char *target = output->target;
	struct stat st;

	output->in_place = is_in_place(output);
	if ((named ? lstat : stat)(target, &st) < 0)
		return errno == ENOENT ? true
				       : err_set_errno(err, "cannot stat %s", target);
	if (named && (st.st_dev != input->was.st_dev || st.st_ino != input->was.st_ino))
		return err_set(err, ERR_IO, NEWFILE_CHANGED);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED,
		    "%s is not a regular file; name another output", target);
	if (output->in_place && !(named && input->names.open) && input->was.st_nlink > 1)
		return err_set(err, ERR_UNSUPPORTED,
		    "%s has %ju hard links, and rewriting it in place would separate "
		    "them; write to another path",
		    target, (uintmax_t)input->was.st_nlink);
	return true;
}

/* As mkostemp, in a directory, and with a mode less the umask. */
static int create_named(int dirfd, char *name, mode_t mode)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	char *end = name + strlen(name) - 6;

	for (int i = 0; i < MAX_NAMES; i++) {
		uint8_t random[6];
		int fd;

		if (getentropy(random, sizeof(random)) < 0)
			return -1;
		for (size_t k = 0; k < sizeof(random); k++)
			end[k] = letters[random[k] % 32];
		fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* Opens the directory of the target. Everything after it is done there, whatever the
 * directory's name is by then. */
static bool open_dir(struct newfile *output, struct err *err)
{
	const char *slash = strrchr(output->target, '/');
	char *dir = slash ? strndup(output->target, (size_t)(slash - output->target) + 1)
			  : strdup(".");

	if (!dir)
		return err_set_nomem(err);
	output->dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	return output->dirfd >= 0 ||
	       err_set_errno(err, "cannot open the directory of %s", output->target);
}

static bool create_temp(struct newfile *output, bool plain, struct err *err)
{
	const char *base = newfile_base(output->target);
	sigset_t all, old;
	char *temp;

	/* Not the target's name with a suffix: that might be too long. */
	if (asprintf(&temp, "%.*s.eh2sframe.XXXXXX", (int)(base - output->target),
		output->target) < 0)
		return err_set_nomem(err);
	/* A signal waits until the caller's handler knows of the file. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	/* The umask cannot be read without setting it for all threads. */
	output->fd = create_named(
	    output->dirfd, temp + (base - output->target), plain ? 0666 : 0600);
	if (output->fd >= 0) {
		output->temp = temp;
		newfile_notify(output, true);
	} else {
		err_set_errno(err, "cannot create a file beside %s", output->target);
		free(temp);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return output->fd >= 0;
}

/* Makes the temporary file now: a directory without permission is then found before any work is done. */
bool newfile_begin(const char *path, struct newfile_input *input,
    const struct newfile_watch *watch, struct newfile *output, struct err *err)
{
	const bool named = input && input->names.n;

	*output = (struct newfile){.fd = -1, .dirfd = -1, .input = input};
	if (watch)
		output->watch = *watch;
	/* A link that has the place of the input by now is none that the user named. */
	output->target = named ? strdup(path) : newfile_resolve(path, err);
	if (!output->target)
		return named ? err_set_nomem(err) : false;
	if (check_target(output, err) && open_dir(output, err) &&
	    create_temp(output, !input || input->fd < 0, err))
		return true;
	newfile_abort(output);
	return false;
}

bool newfile_begin_memory(struct newfile *output, struct err *err)
{
	*output =
	    (struct newfile){.fd = memfd_create("eh2sframe", MFD_CLOEXEC), .dirfd = -1};
	output->memory = output->fd >= 0;
	return output->memory || err_set_errno(err, "cannot create a file in memory");
}

bool newfile_take(struct newfile *output, void **bytes, size_t *size, struct err *err)
{
	struct stat st;
	ssize_t n;
	char *copy;

	if (fstat(output->fd, &st) < 0)
		return err_set_errno(err, "cannot stat the output");
	copy = malloc((size_t)st.st_size + 1);
	if (!copy)
		return err_set_nomem(err);
	n = regular_read(output->fd, copy, (size_t)st.st_size, 0);
	if (n < st.st_size) {
		free(copy);
		return n < 0
			   ? err_set_errno(err, "cannot read the output")
			   : err_set(err, ERR_IO, "the output shrank while it was read");
	}
	*bytes = copy;
	*size = (size_t)n;
	return true;
}

/* Short writes are not errors, and a signal handler may interrupt. */
bool newfile_write_at(
    int fd, const void *data, size_t size, uint64_t off, struct err *err)
{
	const uint8_t *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set_errno(
			    err, "cannot write at offset 0x%" PRIx64, off);
		p += n;
		off += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

void newfile_written(const struct newfile *output)
{
	/* Only a hint: where the kernel does not support it, fsync does all of the
	 * waiting. */
	sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

/*
 * Attributes before fsync, fsync before rename: after a crash there is the old file or
 * the new one, never a new one that is empty or has the wrong owner. The sync can take
 * seconds, so the attributes are copied again after it. The directory is not
 * synced: that would only decide which of the two, and costs as much as all the rest does
 * for a small file.
 */
bool newfile_commit(struct newfile *output, struct err *err)
{
	int like_fd = output->input ? output->input->fd : -1;

	if (!newfile_copy_attrs(output->fd, like_fd, err))
		return false;
	if (fsync(output->fd) < 0)
		return err_set_errno(err, "cannot sync %s", output->temp);
	return newfile_copy_attrs(output->fd, like_fd, err) &&
	       newfile_replace(output, err);
}

bool newfile_replaces(const struct newfile *output, const char *path)
{
	struct stat a, b;

	return output->target && path && stat(output->target, &a) == 0 &&
	       stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Ends a file in any case: after a commit there is no temporary file left to remove. */
void newfile_abort(struct newfile *output)
{
	/* A zeroed struct has fd 0: only one with a target, or in memory, owns its
	 * descriptor. */
	if ((output->target || output->memory) && output->fd >= 0)
		close(output->fd);
	if (output->temp) {
		newfile_remove_links(output);
		unlinkat(output->dirfd, newfile_base(output->temp), 0);
		newfile_notify(output, false);
	}
	if (output->target && output->dirfd >= 0)
		close(output->dirfd);
	free(output->temp);
	free(output->target);
	*output = (struct newfile){.fd = -1, .dirfd = -1};
}
