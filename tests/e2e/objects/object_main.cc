/* SPDX-License-Identifier: MIT */
/* Calls everything that the other objects have, and catches what they throw. */
#include "object_shared.h"

#include <cstdio>

static int __attribute__((noinline)) quiet(int n)
{
	return sum_of_copies(n, 3) + limited(1);
}

static int __attribute__((noinline)) caught(int n)
{
	noisy object("caught");

	try {
		return other(n) + object.value(n);
	} catch (const std::exception &e) {
		printf("%s\n", e.what());
		return -1;
	}
}

int main(int argc, char **)
{
	printf("%d %d\n", quiet(argc), caught(argc));
	printf("%d %d\n", plain(argc), caught(argc + 9));
	printf("%d %d\n", asm_twice(plain, argc), asm_other(quiet, argc));
	printf("%s\n", sum_of_copies(std::string("ab"), 2).c_str());
	return 0;
}
