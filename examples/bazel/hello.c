/* A program with a call chain worth unwinding. */
#include <stdio.h>

static int factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

int main(void)
{
	printf("10! = %d\n", factorial(10));
	return 0;
}
