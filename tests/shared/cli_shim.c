/* SPDX-License-Identifier: MIT */
/*
 * cli_files.sh and batch_stop.py preload this into the command. The SHIM_NTH call of
 * SHIM_CALL then does what SHIM_DO says: ENOSPC, EIO, EINTR, EXDEV, EFAULT, EOPNOTSUPP,
 * SHORT (half of it), WRONG (a section with another bit), WAIT (until there is a TERM), KILL, TERM, or INT for the whole process
 * group, as from a terminal. Only calls on regular files count. SHIM_LOG is made when that call was reached. With
 * SHIM_LATE the first ppoll waits until a child has ended.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fs.h>

static int matches(const char *call)
{
	static int calls;
	const char *wanted = getenv("SHIM_CALL"), *nth = getenv("SHIM_NTH");

	return wanted && nth && !strcmp(wanted, call) && ++calls == atoi(nth);
}

static int is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* The caller blocks the signal, or its handler returns. A parent that does not wait for the caller has ended then. */
static void wait_for_term(void)
{
	sigset_t pending;

	do
		sigpending(&pending);
	while (!sigismember(&pending, SIGTERM) && usleep(1000) == 0);
	usleep(100000);
}

/* Returns 0 to go on, 1 for half of it, -1 to fail with errno. */
static int strike(const char *call)
{
	static const struct {
		const char *name;
		int number;
	} errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR},
	    {"EXDEV", EXDEV}, {"EFAULT", EFAULT}, {"EOPNOTSUPP", EOPNOTSUPP}};
	const char *what = getenv("SHIM_DO"), *log = getenv("SHIM_LOG");

	if (!what || !matches(call))
		return 0;
	if (log)
		close(open(log, O_WRONLY | O_CREAT, 0600));
	if (!strcmp(what, "KILL"))
		raise(SIGKILL);
	if (!strcmp(what, "TERM"))
		raise(SIGTERM);
	if (!strcmp(what, "WAIT"))
		wait_for_term();
	if (!strcmp(what, "INT"))
		kill(0, SIGINT);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (!strcmp(what, errors[i].name)) {
			errno = errors[i].number;
			return -1;
		}
	}
	return 1;
}

/* The real function. */
#define REAL(type, name, ...)                                                            \
	type (*real)(__VA_ARGS__);                                                       \
	*(void **)&real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *data, size_t size)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	int blow = is_file(fd) ? strike("write") : 0;

	return blow < 0 ? -1 : real(fd, data, blow ? (size + 1) / 2 : size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t off)
{
	REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
	int blow = strike("pwrite");
	char section[1 << 16];

	if (size > 28 && size <= sizeof(section) && !memcmp(data, "\xe2\xde", 2) &&
	    strike("section")) {
		memcpy(section, data, size);
		section[size - 1] ^= 0x10; /* an offset of the last row */
		return real(fd, section, size, off);
	}
	return blow < 0 ? -1 : real(fd, data, blow ? (size + 1) / 2 : size, off);
}

int fallocate64(int fd, int mode, off64_t off, off64_t size)
{
	REAL(int, "fallocate64", int, int, off64_t, off64_t);

	return strike("fallocate") < 0 ? -1 : real(fd, mode, off, size);
}

/* This is for FICLONE only. */
int ioctl(int fd, unsigned long request, ...)
{
	REAL(int, "ioctl", int, unsigned long, ...);
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (request == FICLONE && strike("clone") < 0)
		return -1;
	return real(fd, request, argument);
}

int ftruncate64(int fd, off64_t size)
{
	REAL(int, "ftruncate64", int, off64_t);

	return strike("ftruncate") < 0 ? -1 : real(fd, size);
}

int fsync(int fd)
{
	REAL(int, "fsync", int);

	return strike("fsync") < 0 ? -1 : real(fd);
}

int fchmod(int fd, mode_t mode)
{
	REAL(int, "fchmod", int, mode_t);

	return strike("fchmod") < 0 ? -1 : real(fd, mode);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	REAL(int, "linkat", int, const char *, int, const char *, int);

	return strike("linkat") < 0 ? -1 : real(from_dir, from, to_dir, to, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	REAL(int, "renameat", int, const char *, int, const char *);

	return strike("renameat") < 0 ? -1 : real(from_dir, from, to_dir, to);
}

/* Each option that the command uses has one argument. */
int prctl(int option, ...)
{
	REAL(int, "prctl", int, unsigned long);
	unsigned long argument;
	va_list ap;

	va_start(ap, option);
	argument = va_arg(ap, unsigned long);
	va_end(ap);
	return strike("prctl") < 0 ? -1 : real(option, argument);
}

int ppoll(
    struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals)
{
	REAL(int, "ppoll", struct pollfd *, nfds_t, const struct timespec *,
	    const sigset_t *);

	static int calls;
	siginfo_t info;

	if (getenv("SHIM_LATE") && calls++ == 0)
		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	return real(fds, n, timeout, signals);
}
