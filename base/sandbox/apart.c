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
#include <time.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"

/* Descriptors in the process: the files, then its output, then the end of a pipe that closes when it ends. */
enum {
	APART_OUT = APART_FIRST_FILE + APART_MAX_FILES,
	APART_PIPE,
	APART_ABOVE, /* nothing of this and above stays open */
};
/* Looks at the process so often in a second, and gives it up when it did nothing for so long: a disk that starts turning takes no longer. */
enum { APART_STEPS = 4, APART_IDLE_SECONDS = 5 };
#define APART_SECOND UINT64_C(1000000000)

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

/* Keeps the descriptors that the work needs. */
static void apart_close_others(void)
{
	/* Linux 5.9. */
	if (syscall(SYS_close_range, APART_ABOVE, ~0U, 0) != 0)
		for (int fd = APART_ABOVE; fd < 65536; fd++)
			close(fd);
	for (int fd = 0; fd < APART_FIRST_FILE; fd++)
		close(fd);
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
	const char *preloaded = getenv("LD_PRELOAD");
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
	/* Code that is preloaded, as server agents are, gets on without its own calls here; but fakeroot's sends a message for each stat. */
	sandbox_init(&box, !preloaded || !strstr(preloaded, "libfakeroot"));
	box.reads = true;
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

/* Processor time that a process has used, in ns. */
static uint64_t apart_used(pid_t child)
{
	struct timespec used = {0};
	clockid_t clock;

	if (clock_getcpuclockid(child, &clock) == 0)
		clock_gettime(clock, &used);
	return (uint64_t)used.tv_sec * APART_SECOND + (uint64_t)used.tv_nsec;
}

uint64_t apart_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * APART_SECOND + (uint64_t)time->tv_usec * 1000;
}

/* The status of a process that ends; -1: it does not. */
static int apart_status(pid_t child, struct apart_answer *answer)
{
	struct rusage usage;
	int status = -1;

	for (useconds_t us = 50; us < 1000000; us *= 2) {
		if (wait4(child, &status, WNOHANG, &usage) == child) {
			answer->ns +=
			    apart_ns(&usage.ru_utime) + apart_ns(&usage.ru_stime);
			return status;
		}
		usleep(us);
	}
	answer->ns += APART_SECOND;
	answer->left = child;
	return -1;
}

/*
 * Waits for the end of the process, which is when nobody else has the writing end of the pipe. One that closed it and goes on is ended;
 * one that ends has its status already.
 */
static bool apart_wait(pid_t child, int pipe_end, const struct apart_limits *limits,
    struct apart_answer *answer, struct err *err)
{
	struct pollfd one = {.fd = pipe_end, .events = POLLIN};
	unsigned int idle = 0;
	uint64_t used = 0;
	int n = 0;

	for (unsigned int step = 0; step < limits->seconds * 3 * APART_STEPS; step++) {
		uint64_t before = used;

		n = poll(&one, 1, 1000 / APART_STEPS);
		if (n > 0 || (n < 0 && errno != EINTR))
			break;
		used = apart_used(child);
		idle = used > before + 100000 ? 0 : idle + 1;
		answer->ns += idle ? APART_SECOND / APART_STEPS : 0;
		if (idle == APART_IDLE_SECONDS * APART_STEPS)
			break;
	}
	kill(child, SIGKILL);
	return (apart_status(child, answer) == 0 && n > 0) ||
	       err_set(err, ERR_LIMIT,
		   "the file takes more than %u s or %llu MiB, waits for its file "
		   "system, or ended the process that "
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
	answer->bytes = bytes;
	answer->size = (size_t)st.st_size;
	return true;
}

/* fds: files, output and pipe, above those that they become. */
static pid_t apart_fork(const int fds[APART_ABOVE], const struct apart_job *job)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	for (int fd = APART_FIRST_FILE; fd < APART_ABOVE; fd++)
		if (fds[fd] >= 0 ? dup2(fds[fd], fd) < 0
				 : close(fd) < 0 && errno != EBADF)
			_exit(1);
	apart_close_others();
	if (job->open)
		job->open(job->context);
	apart_enter(&job->limits);
	_exit(job->work(job->context, APART_OUT) ? 0 : 1);
}

bool apart_run(const struct apart_job *job, struct apart_answer *answer, struct err *err)
{
	int fds[APART_ABOVE], ends[2] = {-1, -1},
			      memory = memfd_create("apart", MFD_CLOEXEC);
	pid_t child = -1;
	bool ok = pipe2(ends, O_CLOEXEC) == 0 && memory >= 0;

	*answer = (struct apart_answer){0};
	for (size_t i = 0; i < APART_ABOVE; i++)
		fds[i] = -1;
	fds[APART_OUT] = apart_above(memory);
	fds[APART_PIPE] = apart_above(ends[1]);
	ok = ok && fds[APART_OUT] >= 0 && fds[APART_PIPE] >= 0;
	for (size_t i = 0; i < job->n_files && ok; i++) {
		fds[APART_FIRST_FILE + i] = apart_above(job->files[i]);
		ok = fds[APART_FIRST_FILE + i] >= 0 || job->files[i] < 0;
	}
	apart_close(ends[1]);
	if (ok)
		child = apart_fork(fds, job);
	for (size_t i = 0; i < APART_ABOVE; i++)
		if (i != APART_OUT)
			apart_close(fds[i]);
	if (child < 0)
		ok = err_set_errno(err, "cannot start a process to read the file");
	else
		ok = apart_wait(child, ends[0], &job->limits, answer, err) &&
		     apart_map(memory, job->least, answer, err);
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
