/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by batch_sandbox.py: a worker that a hostile file has taken over. It
 * acts when it syncs a file of at least HOSTILE_SIZE bytes. HOSTILE_DO: SOCKET, EXEC, or READ and
 * WRITE of the path HOSTILE_PATH, whose failure ends it with the number of the error; RECORD
 * writes that path over the name of a temporary file that the pool is to remove, and ends it. FILE,
 * SIZE, TWICE, TEXT, ESCAPE, CHANGES and SKIPPED send the pool messages that no worker sends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static void act(void)
{
	const char *path = getenv("HOSTILE_PATH");
	int fd;

	if (is("SOCKET"))
		socket(AF_INET, SOCK_STREAM, 0);
	else if (is("EXEC"))
		execl("/bin/true", "true", (char *)NULL);
	else if (is("READ") || is("WRITE")) {
		fd = open(path, is("READ") ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
		_exit(fd < 0 ? errno : 100);
	} else if (is("RECORD"))
		write_record(path);
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
