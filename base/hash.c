/* SPDX-License-Identifier: MIT */
/* Key of all hashes of this process. */
#include "base/hash.h"

#include <sys/auxv.h>

/* The kernel's random bytes: no variable is needed, and no system call, as a sandbox may be there. */
struct hash_key hash_key(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	/* Used without random bytes: not zero at least. */
	struct hash_key key = {
	    UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93)};

	if (random)
		memcpy(&key, random, sizeof(key));
	/* A product with an even number loses bits. */
	key.start |= 1;
	key.factor |= 1;
	return key;
}
