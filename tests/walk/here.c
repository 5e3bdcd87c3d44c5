/* SPDX-License-Identifier: MIT */
/*
 * here N [PLUGIN [kept|gone]]: walks of this process in all places where a program can be interrupted,
 * each beside libgcc's: the same PCs, and from signals the same SPs. N is how often the tests are
 * done that wait for chances. PLUGIN is a library with a section, for dlopen. kept: only what differs when no file is
 * ever unmapped. gone: only a walk of code that is unmapped.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef HERE_ALONE
#include <unwind.h>
#endif
#ifdef HERE_ROWS
#include "include/eh2sframe.h"
#endif
#include "tests/walk/here.h"

enum { MEMORY_SIZE = 8 << 20 };

struct here_counts here_counts;

bool here_in_coroutine;
uint64_t here_lie;

static int n_tests, n_failed;
static int n_shown;

/* Where the test fails; a handler may not print otherwise. */
static void show(const struct here_stack *walked, const struct here_stack *unwound)
{
	if (__atomic_fetch_add(&n_shown, 1, __ATOMIC_RELAXED) >= 10)
		return;
	dprintf(1, "# walked %zu frames (%s), libgcc %zu\n", walked->n,
	    eh2sframe_walk_why_text(walked->why), unwound->n);
	for (size_t i = 0; i < 40 && (i < walked->n || i < unwound->n); i++)
		dprintf(1, "#   %#lx %#lx\n",
		    (unsigned long)(i < walked->n ? walked->pcs[i] : 0),
		    (unsigned long)(i < unwound->n ? unwound->pcs[i] : 0));
}

#ifndef HERE_ALONE
const bool here_is_alone;
/* From SP up to the CFA of a frame that was called. */
#ifdef __s390x__
enum { CFA_ABOVE_SP = 160 };
#else
enum { CFA_ABOVE_SP = 0 };
#endif

struct unwound {
	struct here_stack stack;
	/* For each frame the CFA of the one that it called. */
	uintptr_t cfas[HERE_MOST_FRAMES];
	/* Frames before it are those of the test. They can have the same PC, unless it is that of a call. */
	uintptr_t first;
	bool is_interrupted;
};

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
	struct unwound *unwound = data;
	struct here_stack *stack = &unwound->stack;
	int is_interrupted = 0;
	uintptr_t pc = _Unwind_GetIPInfo(context, &is_interrupted);

	if (stack->n == 0 &&
	    (pc != unwound->first || is_interrupted != unwound->is_interrupted))
		return _URC_NO_REASON;
	if (stack->n == HERE_MOST_FRAMES)
		return _URC_END_OF_STACK;
	if (pc != 0) {
		unwound->cfas[stack->n] = _Unwind_GetCFA(context);
		stack->pcs[stack->n++] = pc;
	}
	return _URC_NO_REASON;
}

/* Steps through the first n frames again, because a walk tells no SP. For a frame that a signal interrupted libgcc
 * has a CFA of its own. */
static bool same_sps(const void *ucontext, const struct unwound *unwound, size_t n)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	struct eh2sframe_walk_frame frame;

	eh2sframe_walk_begin(&frame, ucontext, registers);
	for (size_t i = 1; i < n; i++)
		if (eh2sframe_walk_next(&frame) != EH2SFRAME_WALK_WHY_GOES_ON ||
		    (!(frame.flags & EH2SFRAME_WALK_FRAME_EXACT) &&
			frame.sp + CFA_ABOVE_SP + here_lie != unwound->cfas[i]))
			return false;
	return true;
}

/* ucontext: NULL for a call. */
static bool compare(struct here_stack *walked, const void *ucontext)
{
	struct unwound unwound = {.first = walked->n > 0 ? walked->pcs[0] : 0,
	    .is_interrupted = ucontext != NULL};
	const struct here_stack *stack = &unwound.stack;
	size_t n = walked->n;

	_Unwind_Backtrace(note, &unwound);
	/* PLTs of AArch64 and s390x have rows and no CFI, so that libgcc ends there. */
	if (n > stack->n && here_is_complete(walked) && stack->n > 0)
		n = stack->n;
	if (n > stack->n ||
	    memcmp(walked->pcs, stack->pcs, n * sizeof(stack->pcs[0])) != 0 ||
	    (ucontext && !same_sps(ucontext, &unwound, n))) {
		__atomic_fetch_add(&here_counts.differ, 1, __ATOMIC_RELAXED);
		if (!here_lie)
			show(walked, stack);
		return false;
	}
	if (n < stack->n) {
		/* ld.so's trampoline for lazy calls keeps its CFA in rbx, which no row restores. */
		if (walked->why == EH2SFRAME_WALK_WHY_LOST_REGISTER) {
			__atomic_fetch_add(&here_counts.lost, 1, __ATOMIC_RELAXED);
			return false;
		}
		__atomic_fetch_add(&here_counts.early, 1, __ATOMIC_RELAXED);
		show(walked, stack);
		return false;
	}
	__atomic_fetch_add(n < walked->n ? &here_counts.further : &here_counts.same, 1,
	    __ATOMIC_RELAXED);
	return true;
}
#else
const bool here_is_alone = true;
/* In a static program libgcc takes a lock, so that a handler may not ask it. */
static bool compare(struct here_stack *walked, const void *ucontext)
{
	bool good = here_is_complete(walked) ||
		    (here_in_coroutine && walked->why == EH2SFRAME_WALK_WHY_NO_ROW);

	(void)ucontext;
	if (good)
		__atomic_fetch_add(&here_counts.same, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&here_counts.early, 1, __ATOMIC_RELAXED);
	if (!good)
		show(walked, walked);
	return good;
}
#endif

bool here_is_complete(const struct here_stack *walked)
{
#ifdef HERE_NO_OUTERMOST
	/* Versions 1 and 2 have no row for _start, which is shorter than this. */
	extern char _start[];

	return walked->why == EH2SFRAME_WALK_WHY_NO_ROW && walked->n > 0 &&
	       walked->pcs[walked->n - 1] - (uintptr_t)_start < 128;
#endif
#ifndef __GLIBC__
	/* musl has no CFI, and code does not show that _start and clone have no caller. */
	if (walked->why == EH2SFRAME_WALK_WHY_NO_ROW)
		return true;
#endif
	return walked->why == EH2SFRAME_WALK_WHY_OUTERMOST;
}

bool here_compare(const void *ucontext, struct here_stack *walked)
{
	walked->n = eh2sframe_walk_backtrace(
	    ucontext, walked->pcs, HERE_MOST_FRAMES, &walked->why);
	return compare(walked, ucontext);
}

__attribute__((noinline)) bool here_compare_call(struct here_stack *walked)
{
	walked->n =
	    eh2sframe_walk_backtrace(NULL, walked->pcs, HERE_MOST_FRAMES, &walked->why);
	/* This function is the first frame, with another PC in the second call. */
	walked->n--;
	memmove(walked->pcs, walked->pcs + 1, walked->n * sizeof(walked->pcs[0]));
	return compare(walked, NULL);
}

void here_interrupt(int number, void *info, void *ucontext)
{
	struct here_stack walked;

	(void)number;
	(void)info;
	here_compare(ucontext, &walked);
}

void here_handle(int number, void (*handler)(int, void *, void *), int flags)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | flags};

	action.sa_sigaction = (void (*)(int, siginfo_t *, void *))(void (*)(void))handler;
	sigaction(number, &action, NULL);
}

void here_ok(bool ok, const char *name)
{
	printf("%s %d - %s (%lu same, %lu further, %lu lost, %lu early, %lu differ)\n",
	    ok ? "ok" : "not ok", ++n_tests, name, here_counts.same, here_counts.further,
	    here_counts.lost, here_counts.early, here_counts.differ);
	fflush(stdout);
	n_failed += !ok;
	memset(&here_counts, 0, sizeof(here_counts));
}

int here_end(void)
{
	printf("1..%d\n", n_tests);
	return n_failed > 0;
}

uint64_t here_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#ifdef __SANITIZE_ADDRESS__
/* Rows stay until the end, and only memory that the sanitizer does not search knows them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

#ifdef HERE_ROWS
static unsigned int n_forked, n_good;
static bool in_rows;
static pthread_t beside;

/* Another thread's fork waits until the tables are changed. */
static void *fork_beside(void *data)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0)
		_exit(__atomic_load_n(&in_rows, __ATOMIC_RELAXED));
	waitpid(child, &status, 0);
	return status == 0 ? data : NULL;
}

/* Is called with the lock: the child has it, too. A change of the tables would wait for ever, and does nothing. */
static bool rows_and_fork(void *context, struct eh2sframe_walk_module *module)
{
	pid_t child;
	int status = 1;

	__atomic_store_n(&in_rows, true, __ATOMIC_RELAXED);
	/* It has time to be wrong. */
	if (n_forked == 0 && pthread_create(&beside, NULL, fork_beside, &n_forked) == 0)
		usleep(50000);
	child = fork();
	if (child == 0)
		_exit(eh2sframe_walk_refresh() != 0 ||
		      eh2sframe_walk_backtrace(NULL, (uintptr_t[1]){0}, 1, NULL) != 1);
	waitpid(child, &status, 0);
	n_forked++;
	n_good += status == 0 && eh2sframe_walk_refresh() == 0;
	__atomic_store_n(&in_rows, false, __ATOMIC_RELAXED);
	return eh2sframe_rows_module(context, module);
}
#endif

enum { N_INITS = 8 };
static pthread_barrier_t inits;
static void *init_memory;
static int n_inits;

/* All of them are cancelled meanwhile, which no later change of the tables may notice. */
static void *init(void *options)
{
	pthread_barrier_wait(&inits);
	pthread_cancel(pthread_self());
	if (eh2sframe_walk_init(init_memory, MEMORY_SIZE, options))
		__atomic_fetch_add(&n_inits, 1, __ATOMIC_RELAXED);
	return NULL;
}

static bool init_once(void *memory, struct eh2sframe_walk_options *options)
{
	pthread_t threads[N_INITS];

	init_memory = memory;
	pthread_barrier_init(&inits, NULL, N_INITS);
	for (int i = 0; i < N_INITS; i++)
		pthread_create(&threads[i], NULL, init, options);
	for (int i = 0; i < N_INITS; i++)
		pthread_join(threads[i], NULL);
	return n_inits == 1;
}

int main(int argc, char **argv)
{
	unsigned char *memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	struct {
		struct eh2sframe_walk_options options;
		uint64_t more;
	} later = {.options.struct_size = sizeof(later), .more = 1};
	struct eh2sframe_walk_options options = {.struct_size = sizeof(options) - 1};
#ifdef HERE_ROWS
	void *waited = NULL;
#endif

	here_ok(eh2sframe_walk_backtrace(NULL, (uintptr_t[1]){0}, 1, NULL) == 0,
	    "without tables a walk has no frames");
	here_ok(!eh2sframe_walk_init(memory, 4096, NULL) &&
		    !eh2sframe_walk_init(memory + 8, 1 << 20, NULL) &&
		    !eh2sframe_walk_init(memory, MEMORY_SIZE, &options),
	    "too little memory, a wrong alignment and short options are refused");
	options.struct_size = sizeof(options);
	options.reserved[5] = 1;
	here_ok(!eh2sframe_walk_init(memory, MEMORY_SIZE, &options) &&
		    !eh2sframe_walk_init(memory, MEMORY_SIZE, &later.options),
	    "what a later version may ask for is refused");
	options.reserved[5] = 0;
	options.keep_loaded = argc > 3 && !strcmp(argv[3], "kept");
#ifdef HERE_ROWS
	options.rows = rows_and_fork;
#endif
	here_ok(init_once(memory, &options) && eh2sframe_walk_refresh() > 0,
	    "one of several threads gives the library its memory, and files have rows");
#ifdef HERE_ROWS
	here_ok(n_forked > 1 && n_good == n_forked,
	    "rows are found by a function that forks");
	here_ok(pthread_join(beside, &waited) == 0 && waited,
	    "a fork waits until the tables are changed");
#endif
#ifndef HERE_CALM
	if (argc > 3) {
		(options.keep_loaded ? test_kept : test_gone)(argv[2]);
		return here_end();
	}
#endif
	test_calls();
	test_signals(n);
	test_leaves();
	test_libc(n);
	test_stacks(n);
	test_random(n);
#ifndef HERE_CALM
	test_fork(n);
	test_threads(n);
#endif
	if (argc > 2)
		test_files(n, argv[2]);
	return here_end();
}
