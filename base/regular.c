/* SPDX-License-Identifier: MIT */
/* Regular files: opened, read, and told from sparse or changed ones. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Non-blocking, in case that a pipe takes the file's place meanwhile. */
enum { REGULAR_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* Limits of holes: so many bytes, or so many times the bytes of data. */
enum { MAX_HOLES = 64 << 20, HOLES_TIMES = 64, MAX_SPARSE = 16 << 20, BLOCK = 512 };

/* Closes a descriptor, and keeps errno. */
static void regular_close(int fd)
{
	int why = errno;

	close(fd);
	errno = why;
}

/* Returns fd if it is a regular file. Else it closes it, and errno says why not. */
static int regular_check(int fd, struct stat *st)
{
	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0) {
		if (S_ISREG(st->st_mode))
			return fd;
		errno = 0;
	}
	regular_close(fd);
	return -1;
}

int regular_open(const char *path, struct stat *st)
{
	char self[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int at = regular_check(open(path, O_PATH | O_CLOEXEC), st), fd;

	if (at < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, REGULAR_FLAGS);
	/* Where /proc is not mounted, the name has to do. */
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		fd = open(path, REGULAR_FLAGS);
	fd = regular_check(fd, st);
	regular_close(at);
	return fd;
}

int regular_path(int at, const char *path, uint64_t resolve)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = resolve};
	int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));

	if (fd < 0 && (errno == EINVAL || errno == ENOSYS) && !(resolve & RESOLVE_CACHED))
		fd = openat(at, path, O_PATH | O_CLOEXEC);
	return fd;
}

int regular_copy(int fd, struct stat *st)
{
	return regular_check(fcntl(fd, F_DUPFD_CLOEXEC, 0), st);
}

int regular_no_link(const char *path)
{
	static const char *const OPEN[] = {"/dev/std", "/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; i < sizeof(OPEN) / sizeof(*OPEN); i++)
		if (strncmp(path, OPEN[i], strlen(OPEN[i])) == 0)
			return 0;
	return O_NOFOLLOW;
}

ssize_t regular_read(int fd, void *to, size_t size, uint64_t off)
{
	size_t n = 0;

	while (n < size) {
		ssize_t now = pread(fd, (char *)to + n, size - n, (off_t)(off + n));

		if (now == 0 || (now < 0 && errno != EINTR))
			return now < 0 ? now : (ssize_t)n;
		n += now > 0 ? (size_t)now : 0;
	}
	return (ssize_t)n;
}

/* Asks the file system for data until there is enough. Where it does not know, all counts as data. */
static bool regular_has_data(int fd, off_t end, uint64_t enough)
{
	uint64_t sum = 0;
	off_t data = 0, hole = 0;

	while (sum < enough) {
		data = lseek(fd, hole, SEEK_DATA);
		if (data < 0)
			return errno != ENXIO;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data || hole >= end)
			hole = end;
		sum += (uint64_t)(hole - data);
	}
	return true;
}

bool regular_is_hollow(int fd, const struct stat *st, bool may_move)
{
	const uint64_t size = (uint64_t)st->st_size, enough = size / HOLES_TIMES;

	return size > MAX_HOLES && (uint64_t)st->st_blocks * BLOCK < enough &&
	       !(may_move && regular_has_data(fd, st->st_size, enough));
}

bool regular_is_sparse(int fd, const struct stat *st)
{
	const uint64_t size = (uint64_t)st->st_size;

	return size > MAX_SPARSE && (uint64_t)st->st_blocks * BLOCK < size / 2 &&
	       !regular_has_data(fd, st->st_size, size / 2);
}

bool regular_is_same(const struct stat *was, const struct stat *is)
{
	return is->st_dev == was->st_dev && is->st_ino == was->st_ino &&
	       is->st_size == was->st_size && is->st_mtim.tv_sec == was->st_mtim.tv_sec &&
	       is->st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}
