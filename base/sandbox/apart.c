/* SPDX-License-Identifier: MIT */
#include "base/sandbox/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"

/* Descriptors in the process: the files, then its output, then the end of a pipe that closes when it ends. */
enum {
	APART_OUT = APART_FIRST_FILE + APART_MAX_FILES,
	APART_PIPE,
	APART_ABOVE, /* nothing of this and above stays open */
};

bool apart_write(int out, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = write(out, (const uint8_t *)bytes + done, size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}

void *apart_take(const uint8_t **at, uint64_t n)
{
	void *copy = n ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, *at, n);
	*at += n;
	return copy;
}

/* Gives up what the work does not need. The limit of memory counts what is mapped already. */
static void apart_enter(const struct apart_limits *limits)
{
	const struct rlimit none = {0}, time = {limits->seconds, limits->seconds};
	/* Memory that descriptors have is not part of the limit of memory. */
	const struct rlimit file_size = {APART_MAX, APART_MAX};
	const struct rlimit files = {APART_ABOVE + 2, APART_ABOVE + 2};
	struct rlimit memory = {limits->memory, limits->memory};
	struct sandbox_state state;
	struct sandbox box;
	unsigned long long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (statm && fscanf(statm, "%llu", &pages) == 1)
		memory.rlim_cur = memory.rlim_max =
		    limits->memory + pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (statm)
		fclose(statm);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &time);
	setrlimit(RLIMIT_AS, &memory);
	setrlimit(RLIMIT_FSIZE, &file_size);
	/* Linux 5.9. */
	if (syscall(SYS_close_range, APART_ABOVE, ~0U, 0) != 0)
		for (int fd = APART_ABOVE; fd < 65536; fd++)
			close(fd);
	for (int fd = 0; fd < APART_FIRST_FILE; fd++)
		close(fd);
	sandbox_init(&box, false);
	setrlimit(RLIMIT_NOFILE, &files);
	sandbox_enter(&box, &state);
}

/* A copy of a descriptor above those that the process uses. */
static int apart_above(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, APART_ABOVE);
}

static void apart_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/*
 * Waits for the end of the process, which is when nobody else has the writing end of the pipe. One that closed it and goes on is ended;
 * one that ends has its status already.
 */
static bool apart_wait(
    pid_t child, int pipe_end, const struct apart_limits *limits, struct err *err)
{
	struct pollfd one = {.fd = pipe_end, .events = POLLIN};
	int status = -1, n;

	do
		n = poll(&one, 1, (int)limits->seconds * 3000);
	while (n < 0 && errno == EINTR);
	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return (n > 0 && status == 0) ||
	       err_set(err, ERR_LIMIT,
		   "the file takes more than %u s or %llu MiB, or ended the process that "
		   "read it",
		   limits->seconds, (unsigned long long)limits->memory >> 20);
}

/* The process has ended. */
static bool apart_map(int out, size_t least, struct apart_answer *answer, struct err *err)
{
	struct stat st;
	void *bytes;

	if (fstat(out, &st) != 0 || (uint64_t)st.st_size < least || !st.st_size ||
	    (uint64_t)st.st_size > APART_MAX)
		return err_set(err, ERR_INTERNAL,
		    "the process that read the file answered nonsense; report this with "
		    "the file");
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, out, 0);
	if (bytes == MAP_FAILED)
		return err_set_nomem(err);
	*answer = (struct apart_answer){bytes, (size_t)st.st_size};
	return true;
}

/* fds: files, output and pipe, above those that they become. */
static pid_t apart_fork(const int fds[APART_ABOVE], apart_work_fn *work, void *context,
    const struct apart_limits *limits)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	for (int fd = APART_FIRST_FILE; fd < APART_ABOVE; fd++)
		if (fds[fd] >= 0 ? dup2(fds[fd], fd) < 0
				 : close(fd) < 0 && errno != EBADF)
			_exit(1);
	apart_enter(limits);
	_exit(work(context, APART_OUT) ? 0 : 1);
}

bool apart_run(const int *files, size_t n_files, apart_work_fn *work, void *context,
    const struct apart_limits *limits, size_t least, struct apart_answer *answer,
    struct err *err)
{
	int fds[APART_ABOVE], ends[2] = {-1, -1},
			      memory = memfd_create("apart", MFD_CLOEXEC);
	pid_t child = -1;
	bool ok = pipe2(ends, O_CLOEXEC) == 0 && memory >= 0;

	for (size_t i = 0; i < APART_ABOVE; i++)
		fds[i] = -1;
	fds[APART_OUT] = apart_above(memory);
	fds[APART_PIPE] = apart_above(ends[1]);
	ok = ok && fds[APART_OUT] >= 0 && fds[APART_PIPE] >= 0;
	for (size_t i = 0; i < n_files && ok; i++) {
		fds[APART_FIRST_FILE + i] = apart_above(files[i]);
		ok = fds[APART_FIRST_FILE + i] >= 0;
	}
	apart_close(ends[1]);
	if (ok)
		child = apart_fork(fds, work, context, limits);
	for (size_t i = 0; i < APART_ABOVE; i++)
		if (i != APART_OUT)
			apart_close(fds[i]);
	if (child < 0)
		ok = err_set_errno(err, "cannot start a process to read the file");
	else
		ok = apart_wait(child, ends[0], limits, err) &&
		     apart_map(memory, least, answer, err);
	apart_close(ends[0]);
	apart_close(fds[APART_OUT]);
	apart_close(memory);
	return ok;
}

void apart_free(struct apart_answer *answer)
{
	if (answer->size)
		munmap((void *)(uintptr_t)answer->bytes, answer->size);
	*answer = (struct apart_answer){0};
}
