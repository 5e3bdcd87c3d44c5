/* SPDX-License-Identifier: MIT */
/* Ordinary C: recursion, a callback, a large frame, alloca, a realigned frame, a cold
 * part. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>

int fib(int n);
void use(void *p);
double aligned(const double *x, int n);
int with_alloca(int n);
int large(int n);
int often(int n);

int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) void use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

double aligned(const double *x, int n)
{
	__attribute__((aligned(64))) double copy[8] = {0};

	for (int i = 0; i < n && i < 8; i++)
		copy[i] = 2 * x[i];
	use(copy);
	return copy[0];
}

int with_alloca(int n)
{
	char *p = alloca((size_t)n);

	use(p);
	return p[0];
}

int large(int n)
{
	char frame[70000];

	use(frame);
	return n ? frame[n] : large(1);
}

int often(int n)
{
	if (n < 0) {
		puts("never");
		abort();
	}
	return n * 3;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int numbers[] = {3, 1, 2};
	double x[8] = {1};

	(void)argv;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	printf("%d %d %d %d %d %d\n", fib(argc), numbers[0], with_alloca(argc + 8),
	    large(argc), (int)aligned(x, argc), often(argc));
	return 0;
}
