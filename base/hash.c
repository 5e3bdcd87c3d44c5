/* SPDX-License-Identifier: MIT */
/* Key of all hashes of this process. */
#include "base/hash.h"

#include <stdatomic.h>
#include <sys/auxv.h>

/* The kernel's random bytes: that needs no system call, as a sandbox may be there. Threads that ask for the first time all find the same. */
struct hash_key hash_key(void)
{
	static _Atomic uint64_t start, factor;
	struct hash_key key = {atomic_load_explicit(&start, memory_order_acquire), 0};
	const void *random;

	key.factor = atomic_load_explicit(&factor, memory_order_relaxed);
	if (key.start)
		return key;
	random = (const void *)getauxval(AT_RANDOM);
	/* Without random bytes: not zero at least. */
	key =
	    (struct hash_key){UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93)};
	if (random)
		memcpy(&key, random, sizeof(key));
	/* A product with an even number loses bits. */
	key.start |= 1;
	key.factor |= 1;
	atomic_store_explicit(&factor, key.factor, memory_order_relaxed);
	atomic_store_explicit(&start, key.start, memory_order_release);
	return key;
}
