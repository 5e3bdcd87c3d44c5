/* A program with a call chain worth unwinding, part of it in a library. */
#include <stdio.h>

int factorial(int n);

int main(void)
{
	printf("10! = %d\n", factorial(10));
	return 0;
}
