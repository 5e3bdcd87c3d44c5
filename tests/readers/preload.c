/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into programs that nobody here wrote: compares the walks of backtrace() and
 * libgcc at calls of malloc() and at the end, and says on descriptor 9 how many are the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "compare.h"

static int n_same, n_differ, n_behind, inside;

/*
 * True if a return address lies behind the function that made the call, because the callee
 * never returns, as in exit(). glibc looks up the return address itself and not the call,
 * so it finds the next function or none, whatever the section says.
 */
static bool behind(const struct compare_walk *walk)
{
	for (int i = 1; i < walk->n; i++) {
		char *pc = walk->pcs[i];

		/* libgcc looks up the byte before. */
		if (_Unwind_FindEnclosingFunction(pc) !=
		    _Unwind_FindEnclosingFunction(pc + 1))
			return true;
	}
	return false;
}

static void look(void)
{
	struct compare_walk walk;

	if (inside++ == 0) {
		if (compare_walks(&walk) > 0)
			n_same++;
		else if (behind(&walk))
			n_behind++;
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
	/* Programs make millions of calls. */
	if (n_calls < 500) {
		n_calls++;
		look();
	}
	return next(size);
}

__attribute__((destructor)) static void end(void)
{
	look();
	dprintf(9, "%d same, %d behind a call that never returns, %d differ\n", n_same,
	    n_behind, n_differ);
}
