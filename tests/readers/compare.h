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

/* Frames of backtrace(), or -1 when they are not those of libgcc. The first is this
 * function's, at the place of each call. */
__attribute__((noinline, unused)) static int compare_frames(void)
{
	struct compare_walk walk = {{0}, 0};
	void *pcs[COMPARE_MAX];
	int n = backtrace(pcs, COMPARE_MAX);

	_Unwind_Backtrace(compare_step, &walk);
	/* libgcc also counts a frame behind the outermost. */
	while (walk.n && !walk.pcs[walk.n - 1])
		walk.n--;
	if (n > 1 && n == walk.n &&
	    !memcmp(pcs + 1, walk.pcs + 1, sizeof(pcs[0]) * (size_t)(n - 1)))
		return n;
	fprintf(stderr, "backtrace() has %d frames, libgcc %d\n", n, walk.n);
	for (int i = 0; i < n || i < walk.n; i++)
		fprintf(stderr, "%3d %p %p\n", i, i < n ? pcs[i] : NULL,
		    i < walk.n ? walk.pcs[i] : NULL);
	return -1;
}

#endif
