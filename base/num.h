/* SPDX-License-Identifier: MIT */
/*
 * Checked narrowing. This is the only place where a wide integer becomes a narrow one:
 * every function returns false, and leaves *out alone, when the value does not fit.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

ATTR_MUST_CHECK static inline bool num_u8(uint64_t v, uint8_t *out)
{
	if (v > UINT8_MAX)
		return false;
	*out = (uint8_t)v;
	return true;
}

ATTR_MUST_CHECK static inline bool num_u16(uint64_t v, uint16_t *out)
{
	if (v > UINT16_MAX)
		return false;
	*out = (uint16_t)v;
	return true;
}

ATTR_MUST_CHECK static inline bool num_u32(uint64_t v, uint32_t *out)
{
	if (v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

ATTR_MUST_CHECK static inline bool num_size(uint64_t v, size_t *out)
{
#if SIZE_MAX < UINT64_MAX
	if (v > SIZE_MAX)
		return false;
#endif
	*out = (size_t)v;
	return true;
}

ATTR_MUST_CHECK static inline bool num_s32(int64_t v, int32_t *out)
{
	if (v < INT32_MIN || v > INT32_MAX)
		return false;
	*out = (int32_t)v;
	return true;
}

/* Writes the low bytes of a value, at any alignment. */
static inline void num_store(uint8_t *to, size_t bytes, bool big_endian, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++)
		to[big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

/* to - from as a signed distance; false when it is outside the 32-bit range. */
ATTR_MUST_CHECK static inline bool num_distance_s32(
    uint64_t from, uint64_t to, int32_t *out)
{
	return num_s32((int64_t)(to - from), out);
}

/* Rounds up to a power of two; false on wrap-around. */
ATTR_MUST_CHECK static inline bool num_align_up(uint64_t v, uint64_t align, uint64_t *out)
{
	uint64_t sum;

	if (__builtin_add_overflow(v, align - 1, &sum))
		return false;
	*out = sum & ~(align - 1);
	return true;
}

/* True if [off, off + len) lies inside [0, size). An empty range at size does. */
static inline bool num_range_inside(uint64_t off, uint64_t len, uint64_t size)
{
	return off <= size && len <= size - off;
}

/* The end of a noun after its number: 1 function, 2 functions. */
static inline const char *num_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
