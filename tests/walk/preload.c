/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into programs of other projects. A timer interrupts the program; each
 * time the walker and libgcc's unwinder walk the stack that was interrupted, and both must say
 * the same. All files get their rows in memory.
 *
 *   WALK_COUNTS   the file of struct preload_counts, which exists
 *   WALK_LOG      a file for stacks that differ or end early
 *   WALK_HZ       interrupts in a second
 *   WALK_CLOCK    "cpu": in the thread that runs, as often as the kernel's tick allows;
 *                 otherwise in one of the threads, by the time of day
 *   WALK_ALONE    "walk" or "libgcc": only this one, for its time
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "include/eh2sframe.h"
#include "tests/walk/preload.h"

enum { MOST_FRAMES = 512 };

struct stack {
	size_t n;
	uintptr_t pcs[MOST_FRAMES];
	uintptr_t first; /* frames before it are the handler's */
};

static __attribute__((aligned(64))) unsigned char memory[24 << 20];
static struct preload_counts *counts;
static _Unwind_Reason_Code (*unwind)(_Unwind_Trace_Fn, void *);
static int log_fd = -1, logged;
static bool with_walk = true, with_libgcc = true;

static void add(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
	struct stack *stack = data;
	int is_interrupted = 0;
	uintptr_t pc = _Unwind_GetIPInfo(context, &is_interrupted);

	/* The handler's frames come first. */
	if (stack->n == 0 && (pc != stack->first || !is_interrupted))
		return _URC_NO_REASON;
	if (stack->n == MOST_FRAMES)
		return _URC_END_OF_STACK;
	if (pc != 0)
		stack->pcs[stack->n++] = pc;
	return _URC_NO_REASON;
}

static void log_pc(const char *what, size_t i, uintptr_t pc)
{
	Dl_info info;
	const char *file = "?", *symbol = "";
	uintptr_t offset = pc;

	if (pc != 0 && dladdr((void *)pc, &info) != 0) {
		file = info.dli_fname;
		offset -= (uintptr_t)info.dli_fbase;
		symbol = info.dli_sname ? info.dli_sname : "";
	}
	dprintf(log_fd, "  %s %zu %#lx %s+%#lx %s\n", what, i, pc, file, offset, symbol);
}

/* A handler should not print; this happens where the test fails, or a few times. */
static void log_stacks(const char *what, const struct stack *walked,
    const struct stack *unwound, enum eh2sframe_walk_why why)
{
	if (log_fd < 0 || __atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED) >= 20)
		return;
	dprintf(log_fd, "%s: process %d, %s\n", what, (int)getpid(),
	    eh2sframe_walk_why_text(why));
	for (size_t i = 0; i < walked->n || i < unwound->n; i++) {
		uintptr_t a = i < walked->n ? walked->pcs[i] : 0;
		uintptr_t b = i < unwound->n ? unwound->pcs[i] : 0;

		if (a == b) {
			log_pc("both", i, a);
			continue;
		}
		if (a != 0)
			log_pc("walk", i, a);
		if (b != 0)
			log_pc("libgcc", i, b);
	}
}

static void compare(
    const struct stack *walked, const struct stack *unwound, enum eh2sframe_walk_why why)
{
	size_t n = walked->n < unwound->n ? walked->n : unwound->n;

	if (memcmp(walked->pcs, unwound->pcs, n * sizeof(walked->pcs[0])) != 0) {
		add(&counts->differ, 1);
		log_stacks("differ", walked, unwound, why);
	} else if (walked->n < unwound->n) {
		add(&counts->early[why % PRELOAD_WHYS], 1);
		log_stacks("early", walked, unwound, why);
	} else if (walked->n > unwound->n) {
		add(&counts->further, 1);
		log_stacks("further", walked, unwound, why);
	} else {
		add(&counts->same, 1);
	}
}

/* Where CFI is wrong, libgcc reads code at an address that is none (x86-64: OpenSSL 3.5). */
static __thread sigjmp_buf behind_unwind;
static __thread volatile sig_atomic_t unwinds;
static struct sigaction programs_own;
static bool guards; /* one thread at a time */

static void fault(int number)
{
	if (unwinds)
		siglongjmp(behind_unwind, 1);
	/* It is the program's: it happens again, with the program's handler. */
	sigaction(number, &programs_own, NULL);
}

/* Frames that libgcc finds until it ends, or until it has a fault. */
static void unwind_guarded(struct stack *stack)
{
	struct sigaction action = {
	    .sa_handler = fault, .sa_flags = SA_NODEFER | SA_ONSTACK};

	sigaction(SIGSEGV, &action, &programs_own);
	unwinds = 1;
	if (sigsetjmp(behind_unwind, 1) == 0)
		unwind(note, stack);
	unwinds = 0;
	sigaction(SIGSEGV, &programs_own, NULL);
	__atomic_store_n(&guards, false, __ATOMIC_RELEASE);
}

static void interrupt(int number, siginfo_t *info, void *ucontext)
{
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	struct stack walked, unwound;
	int saved = errno;
	uint64_t start = now(), middle, end;

	(void)number;
	(void)info;
	walked.n = unwound.n = 0;
	if (with_walk)
		walked.n =
		    eh2sframe_walk_backtrace(ucontext, walked.pcs, MOST_FRAMES, &why);
	middle = now();
	if (with_libgcc) {
		uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
		struct eh2sframe_walk_frame frame;

		eh2sframe_walk_begin(&frame, ucontext, registers);
		unwound.first = frame.pc;
		if (with_walk && why != EH2SFRAME_WALK_WHY_OUTERMOST)
			unwind_guarded(&unwound);
		else
			unwind(note, &unwound);
	}
	end = now();
	add(&counts->frames, walked.n);
	add(&counts->libgcc_frames, unwound.n);
	add(&counts->nanoseconds, middle - start);
	add(&counts->libgcc_nanoseconds, end - middle);
	if (with_walk && with_libgcc)
		compare(&walked, &unwound, why);
	else
		add(&counts->same, 1);
	errno = saved;
}

static void start_timer(void)
{
	const char *hz = getenv("WALK_HZ"), *clock = getenv("WALK_CLOCK");
	long rate = hz ? atol(hz) : 1000;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	timer_t timer;

	if (rate <= 0)
		return;
	if (clock && strcmp(clock, "cpu") == 0) {
		struct timeval period = {.tv_usec = 1000000 / rate};
		struct itimerval every = {.it_interval = period, .it_value = period};

		setitimer(ITIMER_PROF, &every, NULL);
	} else if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
		struct timespec period = {.tv_nsec = 1000000000 / rate};
		struct itimerspec every = {.it_interval = period, .it_value = period};

		timer_settime(timer, 0, &every, NULL);
	}
}

static bool open_counts(void)
{
	const char *path = getenv("WALK_COUNTS"), *log = getenv("WALK_LOG");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (log) {
		fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
		/* Shells and their scripts use the low numbers. */
		log_fd = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 200);
		if (fd >= 0)
			close(fd);
	}
	return counts != MAP_FAILED;
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction action = {
	    .sa_sigaction = interrupt, .sa_flags = SA_SIGINFO | SA_RESTART};
	const struct eh2sframe_walk_options options = {.struct_size = sizeof(options),
	    .rows = eh2sframe_rows_module,
	    .keep_loaded = true};
	const char *alone = getenv("WALK_ALONE");
	void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW);

	/* By handle: libunwind has a function of this name, too. */
	if (libgcc)
		*(void **)&unwind = dlsym(libgcc, "_Unwind_Backtrace");
	if (!unwind || !open_counts())
		return;
	with_walk = !alone || strcmp(alone, "libgcc") != 0;
	with_libgcc = !alone || strcmp(alone, "walk") != 0;
	add(&counts->processes, 1);
	if (!eh2sframe_walk_init(memory, sizeof(memory), &options))
		return;
	sigaction(SIGPROF, &action, NULL);
	pthread_atfork(NULL, NULL, start_timer);
	start_timer();
}

/* Files that come later have no rows until a refresh. */
__attribute__((visibility("default"))) void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *, int);
	void *handle;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	handle = next(path, flags);
	/* The refresh calls this function, too. */
	if (handle && counts && !(flags & RTLD_NOLOAD))
		eh2sframe_walk_refresh();
	return handle;
}
