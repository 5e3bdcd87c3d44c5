/* SPDX-License-Identifier: MIT */
/* Makes room in a growable array. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define VEC_MIN_ELEMENTS 16
/* Bytes of a huge page, on the machines that this runs on mostly, and of an array that gets some. */
#define VEC_HUGE ((uintptr_t)2 << 20)
#define VEC_LARGE ((size_t)4 << 20)
bool vec_reserve_bytes(void *array_ptr, size_t *cap, size_t need, size_t elem_size)
{
	size_t wanted = *cap + *cap / 2, bytes;
	void *array;

	if (need <= *cap)
		return true;
	if (wanted < need)
		wanted = need;
	if (wanted < VEC_MIN_ELEMENTS)
		wanted = VEC_MIN_ELEMENTS;
	if (__builtin_mul_overflow(wanted, elem_size, &bytes))
		return false;
	/* Copied, not dereferenced as a void **: the owner's pointer has another type. */
	memcpy(&array, array_ptr, sizeof(array));
	array = realloc(array, bytes);
	if (!array)
		return false;
	memcpy(array_ptr, &array, sizeof(array));
	*cap = wanted;
	return true;
}

void vec_prefer_huge(void *array, size_t bytes)
{
	const uintptr_t start = ((uintptr_t)array + VEC_HUGE - 1) & ~(VEC_HUGE - 1),
			end = ((uintptr_t)array + bytes) & ~(VEC_HUGE - 1);

	if (bytes >= VEC_LARGE)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}
