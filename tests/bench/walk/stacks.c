/* SPDX-License-Identifier: MIT */
#include <alloca.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/walk/stacks.h"

typedef int frame_fn(int depth, int salt);

static frame_fn *const frames[8];
static void (*at_the_end)(void);
/* The compiler cannot know that it is 0. */
static volatile int zero;

static int next(int depth, int salt)
{
	if (depth <= 0) {
		at_the_end();
		return salt;
	}
	return frames[(unsigned int)(depth * 5 + 3) % 8](depth - 1, salt + zero);
}

/* Each adds after its call, so that no call is the last thing that a function does. */
#define FRAME __attribute__((noinline))

static FRAME int frame_least(int depth, int salt)
{
	return next(depth, salt) + 1;
}

static FRAME int frame_24(int depth, int salt)
{
	volatile char room[24];

	room[0] = (char)salt;
	return next(depth, salt) + room[0];
}

static FRAME int frame_120(int depth, int salt)
{
	volatile char room[120];

	room[depth % 120] = (char)salt;
	return next(depth, salt) + room[depth % 120];
}

static FRAME int frame_600(int depth, int salt)
{
	volatile char room[600];

	room[depth % 600] = (char)salt;
	return next(depth, salt) + room[depth % 600];
}

static FRAME int frame_alloca(int depth, int salt)
{
	size_t size = 16 + (size_t)(depth % 4) * 16;
	volatile char *room = alloca(size);

	room[size - 1] = (char)salt;
	return next(depth, salt) + room[size - 1];
}

/* Six values live across the call: all that callees save. */
static FRAME int frame_pushes(int depth, int salt)
{
	int a = zero, b = zero + salt, c = zero * 3, d = zero ^ 5, e = zero - depth,
	    f = zero | 1;
	int result = next(depth, salt);

	return result + a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13;
}

static FRAME int frame_two(int depth, int salt)
{
	int a = zero + depth, b = zero - salt;

	return next(depth, salt) * a + b;
}

/* Calls from one of two places. */
static FRAME int frame_branch(int depth, int salt)
{
	int kept = zero + salt;

	if (depth % 16 < 8)
		return next(depth, salt) + kept;
	return next(depth, salt + 1) - kept * 3;
}

static frame_fn *const frames[8] = {frame_least, frame_24, frame_120, frame_600,
    frame_alloca, frame_pushes, frame_two, frame_branch};

void stack_mix(int depth, void (*then)(void))
{
	at_the_end = then;
	next(depth, 1);
}

/* Libraries. */

static void *(*lh_new)(void *hash, void *compare);
static void *(*lh_insert)(void *table, void *entry);
static void (*lh_doall)(void *table, void (*each)(void *entry));
static void *table;
static int levels;

static void deeper(void);

static int compare(const void *a, const void *b)
{
	(void)a, (void)b;
	deeper();
	return 0;
}

static void each(void *entry)
{
	(void)entry;
	deeper();
}

/* One comparison for two elements, one call for a table of one. */
static void deeper(void)
{
	int two[2] = {zero, zero};

	if (levels-- <= 0)
		at_the_end();
	else if (levels % 2)
		qsort(two, 2, sizeof(two[0]), compare);
	else
		lh_doall(table, each);
	zero = 0;
}

static unsigned long hash(const void *entry)
{
	(void)entry;
	return 1;
}

static bool open_libcrypto(void)
{
	void *crypto = dlopen("libcrypto.so.3", RTLD_NOW);
	void *found[3] = {NULL};
	static int entry;
	int (*comparison)(const void *, const void *) = compare;
	unsigned long (*hashing)(const void *) = hash;
	void *functions[2];

	if (!crypto)
		return false;
	found[0] = dlsym(crypto, "OPENSSL_LH_new");
	found[1] = dlsym(crypto, "OPENSSL_LH_insert");
	found[2] = dlsym(crypto, "OPENSSL_LH_doall");
	if (!found[0] || !found[1] || !found[2])
		return false;
	memcpy(&lh_new, &found[0], sizeof(lh_new));
	memcpy(&lh_insert, &found[1], sizeof(lh_insert));
	memcpy(&lh_doall, &found[2], sizeof(lh_doall));
	memcpy(&functions[0], &hashing, sizeof(hashing));
	memcpy(&functions[1], &comparison, sizeof(comparison));
	table = lh_new(functions[0], functions[1]);
	if (table)
		lh_insert(table, &entry);
	return table != NULL;
}

bool stack_libraries(int depth, void (*then)(void))
{
	if (!table && !open_libcrypto())
		return false;
	at_the_end = then;
	levels = depth;
	deeper();
	return true;
}
