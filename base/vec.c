/* SPDX-License-Identifier: MIT */
/* Makes room in a growable array. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define VEC_MIN_ELEMENTS 16
#define VEC_HUGE_PAGE ((uintptr_t)2 << 20)
#define VEC_LARGE ((size_t)8 << 20)

/* The first touch of a page costs as much as filling it does; huge pages are fewer. A
 * hint only. */
static void vec_expect_pages(void *array, size_t size)
{
	uintptr_t first = ((uintptr_t)array + VEC_HUGE_PAGE - 1) & ~(VEC_HUGE_PAGE - 1);
	uintptr_t last = ((uintptr_t)array + size) & ~(VEC_HUGE_PAGE - 1);

	if (first < last)
		madvise((char *)array + (first - (uintptr_t)array), last - first,
		    MADV_HUGEPAGE);
}

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
	if (bytes >= VEC_LARGE)
		vec_expect_pages(array, bytes);
	memcpy(array_ptr, &array, sizeof(array));
	*cap = wanted;
	return true;
}
