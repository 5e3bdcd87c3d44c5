/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into programs that nobody here wrote: compares the walks of backtrace() and
 * libgcc at calls of write() and at the end, and says on descriptor 9 how many are the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "compare.h"

static int n_same, n_differ, inside;

static void look(void)
{
	if (inside++ == 0) {
		if (compare_frames() > 0)
			n_same++;
		else
			n_differ++;
	}
	inside--;
}

void *malloc(size_t size)
{
	static void *(*next)(size_t);
	static unsigned int n_calls;

	if (!next)
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	/* Not each: programs make millions. */
	if (++n_calls % 64 == 0 && n_calls < 64 * 200)
		look();
	return next(size);
}

__attribute__((destructor)) static void end(void)
{
	look();
	dprintf(9, "%d same, %d differ\n", n_same, n_differ);
}
