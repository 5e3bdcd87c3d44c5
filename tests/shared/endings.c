/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by endings.py and batch_again.py. ENDING_HEAP=N: the N-th
 * allocation and, with ENDING_ALL, all after it fail. ENDING_DO: what happens at the
 * first fsync, when a temporary file is complete: STACK (it is used up), SEGV, BUS, ABRT,
 * or the number of a signal.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int heap_fails(void)
{
	static int n, limit = -1;

	if (limit < 0) {
		const char *text = getenv("ENDING_HEAP");

		limit = text ? atoi(text) : 0;
	}
	if (limit <= 0)
		return 0;
	n++;
	if (n != limit && !(n > limit && getenv("ENDING_ALL")))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return heap_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return heap_fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return heap_fails() ? NULL : __libc_realloc(old, size);
}

static int use_stack(volatile char *from)
{
	volatile char more[4096];

	more[0] = from[0];
	return use_stack(more) + more[0];
}

static void read_beyond_file(void)
{
	int fd = open("empty", O_RDWR | O_CREAT, 0600);
	volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	(void)map[0];
}

int fsync(int fd)
{
	const char *what = getenv("ENDING_DO");
	volatile char start = 0;

	(void)fd;
	if (!what)
		return 0;
	if (!strcmp(what, "STACK"))
		use_stack(&start);
	else if (!strcmp(what, "SEGV"))
		*(volatile char *)NULL = start;
	else if (!strcmp(what, "BUS"))
		read_beyond_file();
	else if (!strcmp(what, "ABRT"))
		abort();
	else
		raise(atoi(what));
	return 0;
}
