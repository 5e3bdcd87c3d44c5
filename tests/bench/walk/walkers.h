/* SPDX-License-Identifier: MIT */
/* The walkers that tests/bench/walk compares. */
#ifndef TESTS_BENCH_WALK_WALKERS_H
#define TESTS_BENCH_WALK_WALKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walker {
	const char *name;
	/* Writes at most max return addresses; the first frames may be the walker's own. */
	size_t (*walk)(uintptr_t *pcs, size_t max);
};

enum { MAX_WALKERS = 16 };

/* ours.c: converts all mapped files in memory. optimize is the value of that option. */
bool ours_open(const char *optimize);
/* Both: append to list, and return the new length. */
size_t ours_list(struct walker *list, size_t n);
size_t peers_list(struct walker *list, size_t n);

/* The bounds of this thread's stack. */
extern uintptr_t stack_low, stack_high;
void stack_find(void);

#endif
