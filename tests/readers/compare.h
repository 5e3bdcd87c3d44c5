/* SPDX-License-Identifier: MIT */
/*
 * Compares glibc's backtrace() with libgcc's _Unwind_Backtrace, from the same place. The
 * program has its own copy of libgcc's unwinder, so that backtrace() need not find one.
 */
#ifndef READERS_COMPARE_H
#define READERS_COMPARE_H

#include <execinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

enum { COMPARE_MAX = 512 };

struct compare_walk {
	void *pcs[COMPARE_MAX];
	int n;
};

static _Unwind_Reason_Code compare_step(struct _Unwind_Context *context, void *data)
{
	struct compare_walk *walk = (struct compare_walk *)data;

	if (walk->n == COMPARE_MAX)
		return _URC_END_OF_STACK;
	walk->pcs[walk->n++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Frames of backtrace(), or -1 when they are not those of libgcc, which are in *walk. The
 * first is that of the caller of this function, at the place of each call. */
__attribute__((always_inline)) static inline int compare_walks(struct compare_walk *walk)
{
	void *pcs[COMPARE_MAX];
	int n = backtrace(pcs, COMPARE_MAX);

	walk->n = 0;
	_Unwind_Backtrace(compare_step, walk);
	/* libgcc also counts a frame behind the outermost. */
	while (walk->n && !walk->pcs[walk->n - 1])
		walk->n--;
	if (n > 1 && n == walk->n &&
	    !memcmp(pcs + 1, walk->pcs + 1, sizeof(pcs[0]) * (size_t)(n - 1)))
		return n;
	return -1;
}

/* As compare_walks, but prints the differences, too. */
__attribute__((noinline, unused)) static int compare_frames(void)
{
	struct compare_walk walk;
	int n = compare_walks(&walk);

	if (n < 0) {
		dprintf(STDERR_FILENO, "not the frames of libgcc:");
		for (int i = 0; i < walk.n; i++)
			dprintf(STDERR_FILENO, " %p", walk.pcs[i]);
		dprintf(STDERR_FILENO, "\n");
	}
	return n;
}

#endif
