/* SPDX-License-Identifier: MIT */
/* C: static functions, and code in sections of its own. No headers: any machine. */
int plain(int n);
int plain_cold(int n);

static int __attribute__((noinline)) deep(volatile int *p, int n)
{
	volatile int local[20] = {n};

	return n < 2 ? *p + local[0] : deep(p, n - 1) + deep(p, n - 2);
}

int __attribute__((section(".init.text"), noinline)) plain_early(int n)
{
	volatile int kept = n;

	return deep(&kept, 3) + n;
}

int __attribute__((cold, noinline)) plain_cold(int n)
{
	volatile int kept = n;

	return plain_early(kept) * 2;
}

int plain(int n)
{
	return plain_cold(n) + plain_early(n + 1);
}
