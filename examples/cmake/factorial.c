/* The library of the example. */
int factorial(int n);

int factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}
