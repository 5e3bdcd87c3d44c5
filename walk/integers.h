/* SPDX-License-Identifier: MIT */
/*
 * Integers of the format, and of an index, from bytes that the caller has seen to be there.
 * No call of libc: the compiler makes single loads of __builtin_memcpy.
 */
#ifndef WALK_INTEGERS_H
#define WALK_INTEGERS_H

#include <stdbool.h>
#include <stdint.h>

/* For functions that get their speed from constant arguments. */
#define WALK_INLINE static inline __attribute__((always_inline))

WALK_INLINE uint16_t walk_load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

WALK_INLINE uint32_t walk_load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

WALK_INLINE uint64_t walk_load64(const uint8_t *p, bool swap)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* A signed integer of 1, 2 or 4 bytes: 1 << code. */
WALK_INLINE int32_t walk_load_word(const uint8_t *p, unsigned int code, bool swap)
{
	if (code == 0)
		return (int8_t)*p;
	return code == 1 ? (int16_t)walk_load16(p, swap) : (int32_t)walk_load32(p, swap);
}

#endif
