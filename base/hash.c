/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <sys/auxv.h>

#include "base/attr.h"

/* Where the kernel gives no random bytes, these are not zero at least. */
uint64_t hash_key[2] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93)};

/* Without a system call, as a sandbox may be there already. */
ATTR_CONSTRUCTOR static void hash_choose_key(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random)
		memcpy(hash_key, random, sizeof(hash_key));
	/* A product with an even number loses bits. */
	hash_key[0] |= 1;
	hash_key[1] |= 1;
}
