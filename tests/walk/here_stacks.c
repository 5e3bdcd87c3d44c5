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

static unsigned long n_sorted;

/* Libc calls it from several depths. */
static int by_sort(const void *a, const void *b)
{
	n_sorted++;
	here_compare_call(&here_walked);
	raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

static void deep(int depth, size_t size, void (*end)(void));

/* Needs wide offsets. */
NOINLINE static void wide(int depth, size_t size, void (*end)(void))
{
	volatile char *large = __builtin_alloca(70000);

	large[depth] = 1;
	deep(depth, size, end);
	KEEP;
}

/* CFA = SP + offset. */
NOINLINE static void plain(int depth, size_t size, void (*end)(void))
{
	deep(depth, size, end);
	KEEP;
}

/* CFA = FP + offset, and the other kinds of frames between. */
NOINLINE static void deep(int depth, size_t size, void (*end)(void))
{
	volatile unsigned char *space = __builtin_alloca(size);

	space[0] = 1;
	size = size % 700 + 16;
	if (depth == 0)
		end();
	else if (depth % 8 == 0)
		wide(depth - 1, size, end);
	else if (depth % 3 == 0)
		plain(depth - 1, size, end);
	else
		deep(depth - 1, size, end);
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
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	size_t n = 0, n_same = 0;

	(void)number;
	(void)info;
	eh2sframe_walk_begin(&frame, ucontext, registers);
	walked->n =
	    eh2sframe_walk_backtrace(ucontext, walked->pcs, HERE_MOST_FRAMES, NULL);
	while (why == EH2SFRAME_WALK_WHY_GOES_ON && n < walked->n) {
		n_same += frame.pc == walked->pcs[n++];
		why = eh2sframe_walk_next(&frame);
	}
	walked->why = why;
	steps_agree = n > 20 && n == n_same && n == walked->n && here_is_complete(walked);
}

void test_calls(void)
{
	int numbers[50];
	size_t complete;

	deep(100, 40, end_call);
	here_ok(here_counts.same == 1 && here_is_complete(&here_walked) &&
		    here_walked.n > 101,
	    "a call in 100 frames");
	here_handle(SIGUSR1, here_interrupt, 0);
	for (int i = 0; i < 50; i++)
		numbers[i] = i * 7919 % 1009;
	qsort(numbers, 50, sizeof(numbers[0]), by_sort);
	here_ok(n_sorted > 50 && here_counts.same == 2 * n_sorted,
	    "calls by libc, and signals there");
	complete = here_walked.n;
	here_walked.n =
	    eh2sframe_walk_backtrace(NULL, here_walked.pcs, 2, &here_walked.why);
	here_ok(complete > 2 && here_walked.n == 2 &&
		    here_walked.why == EH2SFRAME_WALK_WHY_LIMIT,
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
	if (!here_is_alone) {
		here_lie = 1;
		deep(20, 40, end_raise);
		here_lie = 0;
		here_ok(here_counts.differ == 1, "a wrong SP is noticed");
	}
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

/* Leaf functions: the return address may still be in its register. */

NOINLINE static int leaf(const int *at)
{
	return *at + 1;
}

NOINLINE static int leaf_with_stack(const int *at)
{
	volatile int room[16];

	room[0] = 7;
	room[5] = *at;
	return room[0] + room[5];
}

/* Needs more registers than a callee may change; s390x then saves the caller's in floating-point registers. */
NOINLINE static long leaf_with_pressure(const long *v, const int *at)
{
	long a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6],
	     h = v[7];

	for (int i = 0; i < 6; i++) {
		a += b ^ h, b += c ^ a, c += d ^ b, d += e ^ c;
		e += f ^ d, f += g ^ e, g += h ^ f, h += a ^ g;
		if (i == 3)
			a += *at;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

void test_leaves(void)
{
	static const long values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	/* Through pointers, so that no builtin takes libc's place. */
	static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	static void *(*volatile fill)(void *, int, size_t) = memset;
	static size_t (*volatile length)(const char *) = strlen;
	static volatile long sink;
	static char room[64];
	void *volatile nowhere = NULL;

	here_handle(SIGSEGV, jump, 0);
	for (volatile int which = 0; which < 7; which++) {
		if (sigsetjmp(back, 1) != 0)
			continue;
		switch (which) {
		case 0:
			sink = leaf(nowhere);
			break;
		case 1:
			sink = leaf_with_stack(nowhere);
			break;
		case 2:
			sink = leaf_with_pressure(values, nowhere);
			break;
		case 3:
			sink = (long)length(nowhere);
			break;
		case 4:
			copy(room, nowhere, 40);
			break;
		case 5:
			fill(nowhere, which, 40);
			break;
		default:
			sink = strtol(nowhere, NULL, 10);
			break;
		}
	}
	(void)sink;
	signal(SIGSEGV, SIG_DFL);
	here_ok(here_counts.same == 7, "faults in 7 leaf functions");
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
	return depth > HERE_MOST_FRAMES && here_walked.why == EH2SFRAME_WALK_WHY_LIMIT &&
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
	here_ok(here_counts.same == 2 && here_is_complete(&here_walked),
	    "the bounds of the stack are known");
	here_ok(walk_of_overflow(), "they are known, and it overflows");
#ifdef __GLIBC__
	here_ok(walk_of_coroutine(n), "they are known, and another stack is in use");
#endif
	(void)n;
}
