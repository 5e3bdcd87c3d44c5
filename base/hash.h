/* SPDX-License-Identifier: MIT */
/* A hash of bytes for tables in memory. Its values are stored nowhere. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Multiplies eight bytes at a time; the seed is fixed so that output does not vary. */
static inline uint64_t hash_bytes(const uint8_t *p, size_t len)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t h = len * factor, chunk;

	while (len >= sizeof(chunk)) {
		memcpy(&chunk, p, sizeof(chunk));
		h = (h ^ chunk) * factor;
		h ^= h >> 32;
		p += sizeof(chunk);
		len -= sizeof(chunk);
	}
	chunk = 0;
	if (len)
		memcpy(&chunk, p, len);
	h = (h ^ chunk) * factor;
	return h ^ h >> 32;
}

/* 32 bits of a hash, to which small numbers may have been added. Not the exclusive or of its
 * halves: hash_bytes ends with that, and a second one takes the first back. */
static inline uint32_t hash_fold(uint64_t hash)
{
	return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

#endif
