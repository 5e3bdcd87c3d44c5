/* SPDX-License-Identifier: MIT */
/*
 * Calls each hostile function of step_hostile*_MACHINE.S, from code that CFI describes. Those that
 * end by hostile_fatal are called under hostile_catches of step_hostile_lib.c.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "step_hostile.h"

int hostile_catches(void (*function)(void *), void *value);
void hostile_call_back(long *value);

#define DECLARE(name) long name(long, long);
HOSTILE_FUNCTIONS(DECLARE)
HOSTILE_FATAL(DECLARE)

static long call_all(void)
{
	long sum = 0;

#define CALL(name)                                                                       \
	for (long k = 1; k < 4; k++)                                                     \
		sum += name(k, 0);
	HOSTILE_FUNCTIONS(CALL)
	return sum;
}

/* Each is called from a function of its own, which does not come back. */
#define CATCH(name)                                                                      \
	static void catch_##name(void *value)                                            \
	{                                                                                \
		*(long *)value += name(*(long *)value, 0);                               \
	}
HOSTILE_FATAL(CATCH)

static int call_fatal(long value)
{
	int n = 0;

#define CALL_FATAL(name)                                                                 \
	{                                                                                \
		long copy = value;                                                       \
		n += hostile_catches(catch_##name, &copy);                               \
	}
	HOSTILE_FATAL(CALL_FATAL)
	return n;
}

/* A buffer that makes the frame large, so that a row for another frame is wrong by much. */
#define LARGE_FRAME(value)                                                               \
	char buffer[300];                                                                \
	memset(buffer, (int)(value), sizeof(buffer));                                    \
	__asm__ volatile("" ::"r"(buffer) : "memory")

/* Code out of line, which this function jumps to and which jumps back. */
static __attribute__((noinline)) long out_of_line(long value)
{
	LARGE_FRAME(value);
	value = hostile_out_of_line(value);
	return value + buffer[3];
}

#ifdef HOSTILE_ABORTS
/* The handler of a restartable sequence: its address is in data, its signature before it. */
static __attribute__((noinline)) long aborts(long value)
{
	LARGE_FRAME(value);
	HOSTILE_ABORTS(value, abort, done);
done:
	return buffer[1];
abort:
	return 100 + buffer[2];
}
#endif

static void dies_by_data(void *value)
{
	(void)value;
	hostile_dies(5);
}

#ifdef HOSTILE_RESTORES
static volatile int n_signals;

static void on_signal(int sig)
{
	n_signals += sig;
}

/* A signal handler that returns by a function without CFI. */
static int own_restorer(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {on_signal, HOSTILE_SA_RESTORER, hostile_restorer, 0};

	if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8) != 0)
		return 1;
	raise(SIGUSR1);
	return n_signals != SIGUSR1;
}
#endif

#ifdef HOSTILE_CLONES
static int child(void *value)
{
	return value == NULL ? 3 : 4;
}

static int own_clone(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	int status = 0, pid = hostile_clone(child, stack + sizeof(stack) / 2);

	return pid <= 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status);
}
#endif

int main(void)
{
	long sum = call_all();
	int fatal = call_fatal(-1);

	hostile_call_back(&sum);
	for (long k = 0; k < 4; k++)
		sum += out_of_line(k);
#ifdef HOSTILE_ABORTS
	for (long k = 0; k < 4; k++)
		sum += aborts(k);
#endif
	if (!hostile_catches(dies_by_data, &sum))
		return 1;
#ifdef HOSTILE_RESTORES
	if (own_restorer() != 0)
		return 1;
#endif
#ifdef HOSTILE_CLONES
	if (own_clone() != 0)
		return 1;
#endif
#ifdef HOSTILE_LIES
	lies_of_cfa();
	lies_of_fp();
#endif
	printf("%d fatal, sum %ld\n", fatal, sum);
	return 0;
}
