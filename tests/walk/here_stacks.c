/* SPDX-License-Identifier: MIT */
/* Calls, signals, and stacks of their own. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/walk/here.h"

#define NOINLINE __attribute__((noinline))
/* Keeps a call from being the last thing that a function does. */
#define KEEP __asm__ volatile("" ::: "memory")

static unsigned char *alternate;
enum { ALTERNATE_SIZE = 256 << 10 };

/* Calls. */

static struct here_stack here_walked;

static int by_sort(const void *a, const void *b)
{
	static bool once;

	if (!once)
		here_compare_call(&here_walked);
	once = true;
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void deep(int depth, size_t size, void (*end)(void))
{
	volatile unsigned char *space = __builtin_alloca(size);

	space[0] = 1;
	if (depth > 0)
		deep(depth - 1, size % 700 + 16, end);
	else
		end();
	KEEP;
}

static void end_call(void)
{
	here_compare_call(&here_walked);
}

static void end_raise(void)
{
	raise(SIGUSR1);
	KEEP;
}

static bool steps_agree;

/* Each step by eh2sframe_walk_next gives what a walk gives. */
static void step(int number, void *info, void *ucontext)
{
	struct here_stack *walked = &here_walked;
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	struct eh2sframe_walk_frame frame;
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_GOES_ON;
	size_t n = 0, n_same = 0;

	(void)number;
	(void)info;
	eh2sframe_walk_begin(&frame, ucontext, registers);
	walked->n =
	    eh2sframe_walk_backtrace(ucontext, walked->pcs, HERE_MOST_FRAMES, NULL);
	while (why == EH2SFRAME_WALK_GOES_ON && n < walked->n) {
		n_same += frame.pc == walked->pcs[n++];
		why = eh2sframe_walk_next(&frame);
	}
	steps_agree = n > 20 && n == n_same && n == walked->n && here_is_complete(why);
}

void test_calls(void)
{
	int numbers[] = {3, 1, 2, 5, 4};
	size_t complete;

	deep(100, 40, end_call);
	here_ok(here_counts.same == 1 && here_is_complete(here_walked.why) &&
		    here_walked.n > 101,
	    "a call in 100 frames");
	qsort(numbers, 5, sizeof(numbers[0]), by_sort);
	here_ok(here_counts.same == 1, "a call by libc");
	complete = here_walked.n;
	here_walked.n =
	    eh2sframe_walk_backtrace(NULL, here_walked.pcs, 2, &here_walked.why);
	here_ok(
	    complete > 2 && here_walked.n == 2 && here_walked.why == EH2SFRAME_WALK_LIMIT,
	    "a walk ends at the limit");
	here_handle(SIGUSR1, step, 0);
	deep(20, 40, end_raise);
	here_ok(steps_agree, "single steps");
}

/* Signals. */

static sigjmp_buf back;

static void second(int number, void *info, void *ucontext)
{
	here_interrupt(number, info, ucontext);
	raise(SIGUSR2);
	KEEP;
}

static void jump(int number, void *info, void *ucontext)
{
	here_interrupt(number, info, ucontext);
	siglongjmp(back, 1);
}

static void use_alternate(void)
{
	stack_t stack = {.ss_size = ALTERNATE_SIZE};

	if (!alternate)
		alternate = malloc(ALTERNATE_SIZE);
	stack.ss_sp = alternate;
	sigaltstack(&stack, NULL);
}

void test_signals(unsigned long n)
{
	here_handle(SIGUSR1, here_interrupt, 0);
	deep(20, 40, end_raise);
	here_ok(here_counts.same == 1, "a signal");
	here_handle(SIGUSR1, second, 0);
	here_handle(SIGUSR2, here_interrupt, 0);
	deep(20, 40, end_raise);
	here_ok(here_counts.same == 2, "a signal in a signal");
	use_alternate();
	here_handle(SIGUSR1, here_interrupt, SA_ONSTACK);
	deep(20, 40, end_raise);
	here_ok(here_counts.same == 1, "a handler on another stack");
	here_handle(SIGUSR1, second, SA_ONSTACK);
	here_handle(SIGUSR2, here_interrupt, SA_ONSTACK);
	deep(20, 40, end_raise);
	here_ok(here_counts.same == 2, "a handler on another stack, in a handler there");
	here_handle(SIGUSR2, second, 0);
	here_handle(SIGUSR1, second, SA_ONSTACK);
	here_handle(SIGUSR2, here_interrupt, 0);
	deep(20, 40, end_raise);
	here_ok(here_counts.same == 2, "two handlers, the first one on another stack");
	here_handle(SIGUSR1, jump, SA_ONSTACK);
	for (volatile unsigned long i = 0; i < n; i++)
		if (sigsetjmp(back, 1) == 0)
			deep(10, 40, end_raise);
	here_ok(here_counts.same == n, "handlers that do not return");
}

/* Stacks. */

NOINLINE static int overflow(volatile int *depth)
{
	volatile char space[200];

	space[0] = (char)++*depth;
	return *depth > 0 ? overflow(depth) + space[0] : 0;
}

/* The stack that overflowed is longer than the limit; its upper end is not reached. */
static void on_overflow(int number, void *info, void *ucontext)
{
	(void)number;
	(void)info;
	here_walked.n = eh2sframe_walk_backtrace(
	    ucontext, here_walked.pcs, HERE_MOST_FRAMES, &here_walked.why);
	siglongjmp(back, 1);
}

static bool walk_of_overflow(void)
{
	volatile int depth = 0;
	size_t n_same = 0;

	here_handle(SIGSEGV, on_overflow, SA_ONSTACK);
	if (sigsetjmp(back, 1) == 0)
		overflow(&depth);
	signal(SIGSEGV, SIG_DFL);
	for (size_t i = 2; i < here_walked.n; i++)
		n_same += here_walked.pcs[i] == here_walked.pcs[1];
	return depth > HERE_MOST_FRAMES && here_walked.why == EH2SFRAME_WALK_LIMIT &&
	       n_same == HERE_MOST_FRAMES - 2;
}

#ifdef __GLIBC__
static ucontext_t coroutine, main_context;
static volatile unsigned long n_turns;

static void in_coroutine(void)
{
	for (;;) {
		here_in_coroutine = true;
		n_turns++;
		here_compare_call(&here_walked);
		raise(SIGUSR1);
		here_in_coroutine = false;
		swapcontext(&coroutine, &main_context);
	}
}

static bool walk_of_coroutine(unsigned long n)
{
	static unsigned char stack[128 << 10];
	unsigned long n_before = n_turns;

	here_handle(SIGUSR1, here_interrupt, SA_ONSTACK);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	makecontext(&coroutine, in_coroutine, 0);
	for (unsigned long i = 0; i < n; i++)
		swapcontext(&main_context, &coroutine);
	return n_turns - n_before == n && here_counts.same == 2 * n;
}
#endif

void test_stacks(unsigned long n)
{
	/* musl has no makecontext. */
#ifdef __GLIBC__
	here_ok(walk_of_coroutine(n), "a stack of makecontext");
#endif
	here_ok(walk_of_overflow(), "a stack that overflowed");
	eh2sframe_walk_thread();
	here_handle(SIGUSR1, here_interrupt, 0);
	deep(100, 40, end_call);
	deep(100, 40, end_raise);
	here_ok(here_counts.same == 2 && here_is_complete(here_walked.why),
	    "the bounds of the stack are known");
	here_ok(walk_of_overflow(), "they are known, and it overflows");
#ifdef __GLIBC__
	here_ok(walk_of_coroutine(n), "they are known, and another stack is in use");
#endif
	(void)n;
}
