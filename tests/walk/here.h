/* SPDX-License-Identifier: MIT */
/* Walks of this process beside those of libgcc, and lines of TAP. */
#ifndef TESTS_WALK_HERE_H
#define TESTS_WALK_HERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/eh2sframe-walk.h"

enum { HERE_MOST_FRAMES = 512 };

struct here_stack {
	size_t n;
	uintptr_t pcs[HERE_MOST_FRAMES];
	enum eh2sframe_walk_why why;
};

/* Results of walks so far, in all threads. */
struct here_counts {
	unsigned long same;    /* complete, and as libgcc says */
	unsigned long further; /* complete, and libgcc ended before */
	unsigned long lost;    /* ended early, because a register was lost */
	unsigned long early;   /* for another reason */
	unsigned long differ;
};
extern struct here_counts here_counts;

/* Walks from ucontext, compares and counts. true: the same. */
bool here_compare(const void *ucontext, struct here_stack *walked);

/* As here_compare, from the caller of this function. */
bool here_compare_call(struct here_stack *walked);

/* The first function of a stack of makecontext has no caller, and its CFI does not say so. */
extern bool here_in_coroutine;

/* Says if a walk ended where the stack does. */
bool here_is_complete(const struct here_stack *walked);

/* Added to each SP before it is compared, to see that the comparison can fail. */
extern uint64_t here_lie;
/* No libgcc has a say. */
extern const bool here_is_alone;

/* A handler of 3 arguments that compares. */
void here_interrupt(int number, void *info, void *ucontext);
void here_handle(int number, void (*handler)(int, void *, void *), int flags);

/* A line of TAP. */
void here_ok(bool ok, const char *name);
/* The plan, and the exit status. */
int here_end(void);

/* Random numbers that are the same in each run. */
uint64_t here_random(uint64_t *state);

/* The tests. n is how often each is done. */
void test_calls(void);
void test_signals(unsigned long n);
void test_leaves(void);
void test_libc(unsigned long n);
void test_stacks(unsigned long n);
void test_fork(unsigned long n);
void test_random(unsigned long n);
void test_threads(unsigned long n);
void test_files(unsigned long n, const char *plugin);
void test_kept(const char *plugin);
void test_gone(const char *plugin);
void plugin_begins(void);

#endif
