/* SPDX-License-Identifier: MIT */
/* The shared library of the insertion tests: TLS, relocated data and a zeroed array of
 * its own. */
#ifndef BSS
#define BSS 40000
#endif

int insert_library(int n);

static __thread int per_thread = 30;
static char zeros[BSS];
static const char *volatile const pointers[] = {zeros, zeros + BSS - 1};

int insert_library(int n)
{
	for (int i = 0; i < 40000; i += 7)
		n += zeros[i];
	return n + per_thread + *pointers[0] + *pointers[1];
}
