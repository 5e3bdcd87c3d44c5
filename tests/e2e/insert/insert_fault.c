/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the driver: the FAULT_AT-th call that changes a file fails with ENOSPC,
 * or the process is sent a signal before it (FAULT_KIND fail, kill, term). Says on
 * descriptor 2 when it did.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fault(void)
{
	static int calls;
	const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");

	if (!at || !kind || ++calls != atoi(at))
		return 0;
	if (write(2, "fault\n", 6) != 6)
		abort();
	if (strcmp(kind, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(kind, "term") == 0)
		kill(getpid(), SIGTERM);
	errno = ENOSPC;
	return 1;
}

/* NAME((parameters), (arguments)): fail with -1, or pass on. */
#define WRAP(type, name, parameters, arguments)                                          \
	type name parameters;                                                            \
	type name parameters                                                             \
	{                                                                                \
		type(*real) parameters;                                                  \
		void *symbol = dlsym(RTLD_NEXT, #name);                                  \
                                                                                         \
		memcpy(&real, &symbol, sizeof(real));                                    \
		return fault() ? -1 : real arguments;                                    \
	}

WRAP(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t off), (fd, p, n, off))
WRAP(ssize_t, pwrite64, (int fd, const void *p, size_t n, off_t off), (fd, p, n, off))
WRAP(int, fallocate, (int fd, int mode, off_t off, off_t n), (fd, mode, off, n))
WRAP(int, fallocate64, (int fd, int mode, off_t off, off_t n), (fd, mode, off, n))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, ftruncate64, (int fd, off_t size), (fd, size))
WRAP(int, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, fsetxattr, (int fd, const char *name, const void *p, size_t n, int flags),
    (fd, name, p, n, flags))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, renameat, (int from_dir, const char *from, int to_dir, const char *to),
    (from_dir, from, to_dir, to))

/* Only where it makes a file. */
int openat64(int dirfd, const char *path, int flags, ...)
{
	int (*real)(int, const char *, int, ...);
	void *symbol = dlsym(RTLD_NEXT, "openat64");
	mode_t mode = 0;
	va_list args;

	memcpy(&real, &symbol, sizeof(real));
	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
		if (fault())
			return -1;
	}
	return real(dirfd, path, flags, mode);
}
