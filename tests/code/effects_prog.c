/* SPDX-License-Identifier: MIT */
/* A bit of everything to step through, mostly for the C library's code below it. */
#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned int sink;
static jmp_buf back;

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

NOINLINE static unsigned int choose(unsigned int n, unsigned int x)
{
	switch (n) {
	case 0:
		return x + sink;
	case 1:
		return x * 3;
	case 2:
		return x / 7;
	case 3:
		return x ^ 0x1234;
	case 4:
		return ~x;
	case 5:
		return x << 5;
	case 6:
		return x >> 3;
	case 7:
		return x % 11;
	case 8:
		return sink++;
	default:
		return 0;
	}
}

NOINLINE static unsigned int dynamic(size_t n)
{
	unsigned char *p = alloca(n);

	memset(p, (int)n, n);
	return p[n / 2] + choose((unsigned int)n % 10, p[n - 1]);
}

NOINLINE static unsigned int large(unsigned int n)
{
	volatile unsigned char buffer[70000];

	buffer[n] = (unsigned char)n;
	buffer[69999 - n] = 1;
	return buffer[n] + buffer[69999 - n];
}

NOINLINE static long sum(int n, ...)
{
	va_list ap;
	long total = 0;

	va_start(ap, n);
	while (n-- > 0)
		total += va_arg(ap, int) + (long)va_arg(ap, double);
	va_end(ap);
	return total;
}

NOINLINE static void leap(int n)
{
	if (n == 0)
		longjmp(back, 1);
	if (sink != 1)
		leap(n - 1);
	sink++;
}

/* Narrow types, by sign. */
NOINLINE static int64_t narrow(
    const int8_t *a, const int16_t *b, const uint16_t *c, int i)
{
	static _Atomic long counter;

	counter += i;
	return a[i] + (int64_t)b[i] * c[i] - (uint8_t)a[i + 1] + counter;
}

static unsigned int numbers(void)
{
	char text[200];
	double list[16], total = 0;

	for (int i = 0; i < 16; i++) {
		snprintf(text, sizeof(text), "%d.%03de%d", i * 7 % 16, i, 3 * i - 20);
		list[i] = strtod(text, NULL);
	}
	qsort(list, 16, sizeof(list[0]), by_value);
	for (int i = 0; i < 16; i += 3) {
		total += sqrt(list[i]);
		snprintf(text, sizeof(text), "%g %.10f %a %s %08lx", list[i], list[i],
		    total, "text", (unsigned long)i);
		sink += (unsigned int)strlen(text);
	}
	return sink;
}

static unsigned int blocks(void)
{
	unsigned int n = 0;

	for (size_t size = 1; size < 2000; size = size * 3 + 1) {
		char *a = malloc(size), *b = calloc(1, 2 * size);

		if (!a || !b)
			exit(2);
		memset(a, 'x', size);
		memcpy(b + size / 2, a, size);
		memmove(b + 1, b, 2 * size - 1);
		a = realloc(a, 3 * size);
		if (!a)
			exit(2);
		n += (unsigned int)memcmp(a, b, size) + (memchr(b, 'x', size) != NULL);
		free(b);
		free(a);
	}
	return n;
}

int main(void)
{
	static const int8_t bytes[] = {-1, 2, -3, 4};
	static const int16_t halves[] = {-100, 200, -300, 400};
	static const uint16_t words[] = {1, 65535, 2, 65534};
	const time_t now = 1000000000;
	unsigned int n = numbers() + blocks();

	for (unsigned int i = 0; i < 40; i++)
		n += choose(i % 11, i) + dynamic(16 + 13 * i) + large(i);
	for (int i = 0; i < 3; i++)
		n += (unsigned int)narrow(bytes, halves, words, i);
	n += (unsigned int)sum(4, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5);
	if (setjmp(back) == 0)
		leap(5);
	printf("%u %s", n, asctime(gmtime(&now)));
	return 0;
}
