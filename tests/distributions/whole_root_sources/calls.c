// SPDX-License-Identifier: MIT
// A library that calls back, and its program.
#include <stdio.h>
#include <stdlib.h>

int sum_sorted(int *numbers, size_t n, int (*compare)(const void *, const void *));

#if defined(LIBRARY) || defined(ALL)
int sum_sorted(int *numbers, size_t n, int (*compare)(const void *, const void *))
{
	qsort(numbers, n, sizeof(*numbers), compare);
	int sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += numbers[i] * (int)i;
	return sum;
}
#endif

#ifndef LIBRARY
static int compare(const void *a, const void *b)
{
	if (getenv("STOP"))
		abort();
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int numbers[99];
	for (int i = 0; i < 99; i++)
		numbers[i] = i * 37 % 101;
	printf("%d\n", sum_sorted(numbers, 99, compare));
	return 0;
}
#endif
