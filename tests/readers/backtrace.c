/* SPDX-License-Identifier: MIT */
/*
 * backtrace [PLUGIN]: backtrace() against libgcc from nested calls, out of qsort, in a signal
 * handler, in a thread, out of a library that dlopen() loads, and at each instruction of a
 * call through a PLT. A line for each place: its name and the frames, -1 where they differ.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "compare.h"

static int failed;

static void say(const char *name, int n)
{
	printf("%s %d\n", name, n);
	fflush(stdout);
	failed |= n < 3;
}

static int result;

__attribute__((noinline)) static int nested(int depth)
{
	volatile char some[64 + 16];

	some[depth % 64] = (char)depth;
	if (depth == 0) {
		result = compare_frames();
		return some[0];
	}
	return nested(depth - 1) + some[depth % 64];
}

static int compared(const void *a, const void *b)
{
	if (result == 0)
		result = compare_frames();
	return *(const int *)a - *(const int *)b;
}

static void handler(int signal)
{
	(void)signal;
	result = compare_frames();
}

static void *thread(void *context)
{
	(void)context;
	nested(5);
	return NULL;
}

static void called(void)
{
	result = compare_frames();
}

static void plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(void (*)(void)) =
	    library ? (void (*)(void (*)(void)))dlsym(library, "plugin_call") : NULL;

	result = -1;
	if (call)
		call(called);
	say("dlopen", result);
}

#ifdef __x86_64__
static volatile int n_steps, n_wrong, n_binding, stepping;

/*
 * True if the dynamic linker is binding a function. Its _dl_runtime_resolve has its CFA in
 * rbx, which version 2 cannot express, so glibc finds no frame.
 */
static bool binds(const struct compare_walk *walk)
{
	Dl_info info;

	for (int i = 0; i < walk->n; i++)
		if (dladdr(walk->pcs[i], &info) && strstr(info.dli_fname, "ld.so"))
			return true;
	return false;
}

/* At each instruction, while the flag TF is set. */
static void stepped(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;
	struct compare_walk walk;

	(void)signal;
	(void)info;
	n_steps++;
	if (compare_walks(&walk) < 0) {
		if (binds(&walk))
			n_binding++;
		else
			n_wrong++;
	}
	if (stepping)
		user->uc_mcontext.gregs[REG_EFL] |= 0x100;
	else
		user->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

__attribute__((noinline)) static void step(void)
{
	struct sigaction action = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
	void *volatile bytes;

	sigaction(SIGTRAP, &action, NULL);
	stepping = 1;
	__asm__ volatile("int3");
	/* Functions of libc that the program calls through its PLT, the first time and the
	 * second. */
	bytes = malloc(10);
	free(bytes);
	bytes = malloc(20);
	free(bytes);
	stepping = 0;
	printf("# %d steps; in %d the dynamic linker binds a function\n", n_steps,
	    n_binding);
	say("step", n_wrong == 0 ? n_steps - n_binding : -1);
}
#endif

/* Nanoseconds of one frame, the best of many walks. */
static void timed(void)
{
	enum { DEPTH = 64, WALKS = 2000 };
	struct timespec begin, end;
	void *pcs[COMPARE_MAX];
	double best = 1e9;
	int n = 0;

	for (int i = 0; i < WALKS; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		n = backtrace(pcs, COMPARE_MAX);
		clock_gettime(CLOCK_MONOTONIC, &end);
		double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 +
			    (double)(end.tv_nsec - begin.tv_nsec);
		if (n > 0 && ns / n < best)
			best = ns / n;
	}
	printf("# %d frames, %.1f ns per frame\n", n, best);
}

__attribute__((noinline)) static int deep(int depth)
{
	volatile int here = depth;

	if (depth == 0)
		timed();
	else
		deep(depth - 1);
	return here;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler};
	int numbers[] = {3, 1, 2};
	pthread_t id;

	nested(0);
	say("main", result);
	nested(100);
	say("nested", result);
	result = 0;
	qsort(numbers, 3, sizeof(numbers[0]), compared);
	say("qsort", result);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
#ifdef __x86_64__
	say("signal", result);
#else
	/* qemu-user puts the code behind a handler where no object is, and glibc gives up
	 * there before it looks whether it is that of a signal. */
	printf("# signal %d\n", result);
#endif
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	say("thread", result);
	if (argc > 1)
		plugin(argv[1]);
#ifdef __x86_64__
	step();
#endif
	deep(64);
	return failed;
}
