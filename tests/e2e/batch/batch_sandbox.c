/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by batch_sandbox.py: a worker that a hostile file has taken over. It
 * acts when it syncs a file of at least HOSTILE_SIZE bytes. HOSTILE_DO: a call of the table below;
 * READ, WRITE and CHMOD of the path HOSTILE_PATH, whose failure ends it with the number of the error;
 * RECORD writes that path over the name of a temporary file that the pool is to remove, and ends it.
 * HELD ends it with 100, or 101 and the number of a descriptor that it should not have. OUTPUT writes to
 * all that it has, but goes on; SPOIL and SWAP do so with temporary files in the directory HOSTILE_PATH. FILE,
 * SIZE, TWICE, TEXT, ESCAPE, LINE, CHANGES and SKIPPED send the pool messages that no worker sends.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

static int is(const char *what)
{
	const char *wanted = getenv("HOSTILE_DO");

	return wanted && !strcmp(wanted, what);
}

/* In the memory that it shares with the pool. */
static void write_record(const char *path)
{
	static const char start[] = ".eh2sframe.";
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char *end;

		from = strtoul(line, &end, 16);
		to = strtoul(end + 1, &end, 16);
		if (strncmp(end, " rw-s", 5) != 0)
			continue;
		for (char *at = (char *)from; at < (char *)to; at++) {
			char *name =
			    memmem(at, (char *)to - at, start, sizeof(start) - 1);

			if (!name)
				break;
			for (at = name; at > (char *)from && at[-1]; at--)
				continue;
			strcpy(at, path);
			raise(SIGKILL);
		}
	}
	_exit(99);
}

/* Tries one call; it ends the process where the sandbox does its work. */
static int call(const char *what)
{
	static char byte;
	struct iovec local = {&byte, 1}, far = {&byte, 1};

	if (!strcmp(what, "SOCKET"))
		return socket(AF_INET, SOCK_STREAM, 0);
	if (!strcmp(what, "EXEC"))
		return execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(what, "FORK"))
		return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!strcmp(what, "SIGNAL"))
		return kill(getppid(), SIGTERM);
	if (!strcmp(what, "SIGNAL-THREAD"))
		return (int)syscall(SYS_tgkill, getppid(), getppid(), SIGTERM);
	if (!strcmp(what, "TRACE"))
		return (int)ptrace(PTRACE_ATTACH, getppid(), 0, 0);
	if (!strcmp(what, "PEEK"))
		return (int)process_vm_readv(getppid(), &local, 1, &far, 1, 0);
	if (!strcmp(what, "MOUNT"))
		return mount("none", ".", "tmpfs", 0, "");
	if (!strcmp(what, "LINK-TO"))
		return symlink("/etc/passwd", "way-out");
	if (!strcmp(what, "SETUID"))
		return setuid(0);
	errno = 0;
	return -2;
}

/* The pipe, directories, and files of the tree that is worked on. */
static int held_is_fine(int fd, const char *top)
{
	static int n_pipes;
	char name[64], path[4096] = {0};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return 1;
	if (fd <= STDERR_FILENO)
		return S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	if (S_ISFIFO(st.st_mode))
		return ++n_pipes == 1 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readlink(name, path, sizeof(path) - 1) < 0)
		return 0;
	/* Where paths begin is only a place. */
	if (S_ISDIR(st.st_mode))
		return !strncmp(path, top, strlen(top)) || (fcntl(fd, F_GETFL) & O_PATH);
	return S_ISREG(st.st_mode) && !strncmp(path, top, strlen(top)) &&
	       (strstr(path, "/.eh2sframe.") || strstr(path, "/victim"));
}

static void look_at_held(const char *top)
{
	for (int fd = 0; fd < 1000; fd++)
		if (!held_is_fine(fd, top))
			_exit(101 + fd);
	_exit(100);
}

static void write_everywhere(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		(void)!syscall(SYS_write, fd, "taken\033[2J", 9);
}

/* Writes over other temporary files than that of a program, or gives their names to another file. */
static void spoil(const char *path, int swap)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		int fd;

		if (strncmp(entry->d_name, ".eh2sframe.", 11) != 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 || st.st_size > 0)
			continue;
		fd = openat(
		    dirfd(dir), swap ? "mine" : entry->d_name, O_WRONLY | O_CREAT, 0600);
		(void)!pwrite(fd, "taken", 5, 100000);
		if (swap)
			renameat(dirfd(dir), "mine", dirfd(dir), entry->d_name);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

static void act(void)
{
	const char *path = getenv("HOSTILE_PATH"), *what = getenv("HOSTILE_DO");
	int fd;

	if (is("READ") || is("WRITE")) {
		fd = open(path, is("READ") ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
		_exit(fd < 0 ? errno : 100);
	} else if (is("CHMOD")) {
		fd = open(path, O_RDONLY);
		_exit(fd < 0 || fchmod(fd, 0700) < 0 ? errno : 100);
	} else if (is("CODE")) {
		_exit(mprotect((void *)((uintptr_t)&act & -4096ul), 4096,
			  PROT_READ | PROT_WRITE | PROT_EXEC) < 0
			  ? errno
			  : 100);
	} else if (is("RECORD"))
		write_record(path);
	else if (is("HELD"))
		look_at_held(path);
	else if (is("OUTPUT"))
		write_everywhere();
	else if (is("SPOIL") || is("SWAP"))
		spoil(path, is("SWAP"));
	else if (what && call(what) != -2)
		_exit(errno ? errno : 99);
}

int fsync(int fd)
{
	const char *least = getenv("HOSTILE_SIZE");
	struct stat st;

	if (least && fstat(fd, &st) == 0 && st.st_size >= atol(least))
		act();
	return 0;
}

static void send_report(int fd, size_t file, const char *text)
{
	const size_t head[2] = {file, strlen(text)};

	syscall(SYS_write, fd, head, sizeof(head));
	syscall(SYS_write, fd, text, head[1]);
}

/* The first of two writes of a message has the number of the file and the size of the text. */
ssize_t write(int fd, const void *data, size_t size)
{
	size_t head[2];
	struct stat st;

	if (size == sizeof(head) && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
	    getenv("HOSTILE_DO")) {
		memcpy(head, data, sizeof(head));
		if (is("FILE"))
			head[0] = SIZE_MAX / 2;
		else if (is("SIZE"))
			head[1] = SIZE_MAX - 7;
		else if (is("TWICE"))
			send_report(fd, head[0], "{\"path\": \"x\", \"status\": 6}");
		else if (is("TEXT"))
			send_report(fd, head[0], "{]");
		else if (is("ESCAPE"))
			send_report(fd, head[0],
			    "{\"path\": \"x\", \"status\": 1, \"error\": "
			    "\"\\u001b[2J\"}");
		else if (is("LINE"))
			send_report(fd, head[0],
			    "{\"path\": \"x\", \"status\": 0, \"text\": "
			    "\"\\u009b2J\\n\"}");
		else if (is("SKIPPED"))
			send_report(fd, head[0],
			    "{\"path\": \"x\", \"status\": 6, \"skipped\": "
			    "\"\\u001b[2J\"}");
		else if (is("CHANGES"))
			send_report(fd, head[0],
			    "{\"path\": \"x\", \"status\": 5, \"changes\": {\"worse\": "
			    "[{}]}}");
		return syscall(SYS_write, fd, head, sizeof(head));
	}
	return syscall(SYS_write, fd, data, size);
}
