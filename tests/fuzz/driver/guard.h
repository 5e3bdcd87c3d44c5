/* SPDX-License-Identifier: MIT */
/*
 * Runs many small cases in forked batches, so that a crash, a hang or a flood of memory
 * costs one case and names it.
 */
#ifndef TESTS_FUZZ_GUARD_H
#define TESTS_FUZZ_GUARD_H

#include <stddef.h>

#include "base/attr.h"

struct guard {
	size_t n;		  /* cases */
	size_t batch;		  /* cases per process */
	unsigned int jobs;	  /* processes at a time */
	unsigned int cpu_seconds; /* processor time one case may use */
	unsigned long rss_mib;	  /* resident memory a process may reach */
	void (*run)(void *context, size_t i);
	/* In the parent; how says what happened to case i. */
	void (*failed)(void *context, size_t i, const char *how);
	void *context;
};

/* How many cases failed. The environment apart, cases do not see each other's memory. */
ATTR_MUST_CHECK size_t guard_run(const struct guard *guard);

#endif
