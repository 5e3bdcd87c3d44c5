/* SPDX-License-Identifier: MIT */
/* The stepper's program: one small function for each shape of frame that compilers make. */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf back;

NOINLINE static int recurse(int n)
{
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

NOINLINE static int dynamic(int n)
{
	char *p = alloca((size_t)n);

	memset(p, n, (size_t)n);
	return p[n / 2] + p[n - 1];
}

/* The caller's arguments are counted by SP while they are pushed. */
NOINLINE static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	return a + b - c + d - e + f - g + h - i + sink;
}

NOINLINE static int sum(int n, ...)
{
	va_list ap;
	int s = 0;

	va_start(ap, n);
	while (n-- > 0)
		s += va_arg(ap, int);
	va_end(ap);
	return s;
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

NOINLINE static int sorted(void)
{
	int v[40];

	for (int i = 0; i < 40; i++)
		v[i] = i * 37 % 41;
	qsort(v, 40, sizeof(v[0]), compare_ints);
	return v[7];
}

NOINLINE static int big_frame(int n)
{
	volatile char space[70000];

	space[0] = space[69999] = (char)n;
	return space[0] + recurse(3);
}

NOINLINE static int tail_called(int n)
{
	return many(n, 1, 2, 3, 4, 5, 6, 7, 8);
}

NOINLINE static int tail_calls(int n)
{
	return tail_called(n + 1);
}

NOINLINE static void jump(int depth)
{
	if (depth > 0)
		jump(depth - 1);
	longjmp(back, 1);
}

NOINLINE static int far_exit(void)
{
	volatile int n = 3;

	if (setjmp(back) == 0)
		jump(n);
	return n;
}

static void on_signal(int number)
{
	sink = recurse(4) + number;
}

NOINLINE static int aligned(int n)
{
	_Alignas(64) volatile char space[64];

	space[n % 64] = (char)n;
	return space[n % 64] + (int)((size_t)&space % 64);
}

int main(int argc, char **argv)
{
	size_t (*volatile by_pointer)(const char *) = strlen;
	char text[64];
	double d = argc / 3.0;

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	sink += recurse(7) + dynamic(300 + argc) + sum(4, 1, 2, argc, 4) + sorted();
	sink += big_frame(argc) + tail_calls(argc) + far_exit() + aligned(argc);
	sink += (int)by_pointer(argv[0] ? argv[0] : "");
	snprintf(
	    text, sizeof(text), "%g %d %s", d, sink, getenv("HOME") ? "home" : "none");
	free(strdup(text));
	puts(text);
	return 0;
}
