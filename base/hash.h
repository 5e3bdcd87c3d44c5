/* SPDX-License-Identifier: MIT */
/* A hash of bytes for tables in memory. Its values differ from process to process, and are stored nowhere. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The key is random, and the same for the whole life of a process. With a key that is known, a file could
 * have many bytes of one hash. A table would then take the square of their number in time.
 */
struct hash_key {
	uint64_t start, factor;
};
struct hash_key hash_key(void);

/* Multiplies both, and joins the halves of the product. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
	uint64_t one = (a & UINT32_MAX) * (b >> 32), other = (a >> 32) * (b & UINT32_MAX);

	return low ^ high ^ one ^ (other << 32 | other >> 32);
#endif
}

/* Multiplies eight bytes at a time. With the key at hand: asking for it takes as long as a hash of a few bytes. */
static inline uint64_t hash_bytes_by(struct hash_key key, const uint8_t *p, size_t len)
{
	uint64_t h = key.start ^ len, chunk;

	while (len >= sizeof(chunk)) {
		memcpy(&chunk, p, sizeof(chunk));
		h = hash_mix(h ^ chunk, key.factor);
		p += sizeof(chunk);
		len -= sizeof(chunk);
	}
	chunk = 0;
	if (len)
		memcpy(&chunk, p, len);
	return hash_mix(h ^ chunk, key.factor);
}

static inline uint64_t hash_bytes(const uint8_t *p, size_t len)
{
	return hash_bytes_by(hash_key(), p, len);
}

/* 32 bits of a hash, to which small numbers may have been added. */
static inline uint32_t hash_fold_by(struct hash_key key, uint64_t hash)
{
	return (uint32_t)hash_mix(hash, key.start);
}

static inline uint32_t hash_fold(uint64_t hash)
{
	return hash_fold_by(hash_key(), hash);
}

#endif
