/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by faults.py. Calls that make, change, map or name files are
 * counted, all together; the FAULT_AT-th does what FAULT_DO says: fail with ENOSPC, EIO
 * or ENOMEM; KILL_BEFORE or KILL_AFTER it; TERM before it. FAULT_LOG gets the name of the
 * call that was struck. Nothing is really synced: that would take most of the time and
 * show nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

static int is_struck(const char *call)
{
	static int calls;
	const char *at = getenv("FAULT_AT"), *path = getenv("FAULT_LOG");
	FILE *log;

	if (!at || !path || ++calls != atoi(at))
		return 0;
	log = fopen(path, "w");
	if (log) {
		fputs(call, log);
		fclose(log);
	}
	return 1;
}

static int fails(const char *what)
{
	static const struct {
		const char *name;
		int number;
	} errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"ENOMEM", ENOMEM}};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (!strcmp(what, errors[i].name)) {
			errno = errors[i].number;
			return 1;
		}
	}
	if (!strcmp(what, "KILL_BEFORE"))
		raise(SIGKILL);
	if (!strcmp(what, "TERM"))
		raise(SIGTERM);
	return 0;
}

/* One counted call: its result, or what there is instead. */
#define AROUND(name, failure, ...)                                                       \
	do {                                                                             \
		int struck_ = is_struck(name);                                           \
		const char *what_ = struck_ ? getenv("FAULT_DO") : "";                   \
                                                                                         \
		if (struck_ && fails(what_))                                             \
			return failure;                                                  \
		result = __VA_ARGS__;                                                    \
		if (!strcmp(what_, "KILL_AFTER"))                                        \
			raise(SIGKILL);                                                  \
		return result;                                                           \
	} while (0)

/* The function this one stands before. */
#define REAL(type, name, ...)                                                            \
	type result;                                                                     \
	type (*real)(__VA_ARGS__);                                                       \
	*(void **)&real = dlsym(RTLD_NEXT, name)

static int is_written(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

int open64(const char *path, int flags, ...)
{
	REAL(int, "open64", const char *, int, ...);
	mode_t mode = 0;
	va_list args;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	AROUND("open", -1, real(path, flags, mode));
}

int openat64(int dirfd, const char *path, int flags, ...)
{
	REAL(int, "openat64", int, const char *, int, ...);
	mode_t mode = 0;
	va_list args;

	if (!(flags & O_CREAT))
		return real(dirfd, path, flags);
	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	AROUND("openat", -1, real(dirfd, path, flags, mode));
}

ssize_t write(int fd, const void *data, size_t size)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	if (!is_written(fd))
		return real(fd, data, size);
	AROUND("write", -1, real(fd, data, size));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t off)
{
	REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
	AROUND("pwrite", -1, real(fd, data, size, off));
}

ssize_t pread64(int fd, void *to, size_t size, off64_t off)
{
	REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
	AROUND("pread", -1, real(fd, to, size, off));
}

int fallocate64(int fd, int mode, off64_t off, off64_t size)
{
	REAL(int, "fallocate64", int, int, off64_t, off64_t);
	AROUND("fallocate", -1, real(fd, mode, off, size));
}

int ftruncate64(int fd, off64_t size)
{
	REAL(int, "ftruncate64", int, off64_t);
	AROUND("ftruncate", -1, real(fd, size));
}

int fsync(int fd)
{
	int result;

	AROUND("fsync", -1, fd < 0 ? -1 : 0);
}

int fchmod(int fd, mode_t mode)
{
	REAL(int, "fchmod", int, mode_t);
	AROUND("fchmod", -1, real(fd, mode));
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	REAL(int, "fchown", int, uid_t, gid_t);
	AROUND("fchown", -1, real(fd, uid, gid));
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	REAL(int, "fsetxattr", int, const char *, const void *, size_t, int);
	/* Attributes of a user, or about access. */
	AROUND(strncmp(name, "user.", 5) ? "fsetxattr" : "fsetxattr user", -1,
	    real(fd, name, value, size, flags));
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	REAL(int, "renameat", int, const char *, int, const char *);
	AROUND("renameat", -1, real(from_dir, from, to_dir, to));
}

/* Memory of its own is not a file's. */
void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off64_t off)
{
	REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
	if (fd < 0)
		return real(addr, size, prot, flags, fd, off);
	AROUND("mmap", MAP_FAILED, real(addr, size, prot, flags, fd, off));
}

/* The descriptor is gone, whatever is said of it. */
int close(int fd)
{
	REAL(int, "close", int);
	if (!is_written(fd))
		return real(fd);
	AROUND("close", (real(fd), -1), real(fd));
}
