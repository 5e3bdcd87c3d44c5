/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the command by changing.py: another program that writes to the input at a moment of its choice.
 * CHANGING has a file, an offset, a word of 8 bytes, and a number: the word is written at the allocation or
 * read of that number. CHANGING_LOG gets how many there were.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static char path[4096];
static unsigned long long at, word, moment, now;

__attribute__((constructor)) static void changing_begin(void)
{
	const char *text = getenv("CHANGING");

	if (text && sscanf(text, "%4095s %llu %llu %llu", path, &at, &word, &moment) == 4)
		now = 0;
}

static void changing_passes(void)
{
	const uint64_t value = word;
	int fd;

	if (__atomic_add_fetch(&now, 1, __ATOMIC_RELAXED) != moment)
		return;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, &value, sizeof(value), (off_t)at) != sizeof(value))
		abort();
	close(fd);
}

__attribute__((destructor)) static void changing_end(void)
{
	const char *log = getenv("CHANGING_LOG");
	FILE *out = log ? fopen(log, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%llu", now);
	fclose(out);
}

void *malloc(size_t size)
{
	changing_passes();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	changing_passes();
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	changing_passes();
	return __libc_realloc(old, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t off)
{
	changing_passes();
	return syscall(SYS_pread64, fd, to, size, off);
}
