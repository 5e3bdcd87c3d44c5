/* SPDX-License-Identifier: MIT */
/* Arrays that ascend by one of their members, a uint64_t: for sorting them, and to find a
 * place in them. */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For qsort: the order of elements by their first member, a uint64_t. */
static inline int search_order(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* For qsort: the order of elements by their first two members, uint64_t both. */
static inline int search_order_pairs(const void *a, const void *b)
{
	int first = search_order(a, b);

	return first ? first
		     : search_order((const uint64_t *)a + 1, (const uint64_t *)b + 1);
}

/*
 * Sorts n elements of size bytes that begin with a start and the end behind it, uint64_t both, and joins those that touch.
 * Returns how many are left.
 */
static inline size_t search_join(void *list, size_t size, size_t n)
{
	uint64_t *last = NULL;
	size_t kept = 0;

	if (n)
		qsort(list, n, size, search_order);
	for (size_t i = 0; i < n; i++) {
		uint64_t *one = (void *)((char *)list + i * size);

		if (!last || one[0] > last[1]) {
			last = (void *)((char *)list + kept++ * size);
			memmove(last, one, size);
		} else if (one[1] > last[1]) {
			last[1] = one[1];
		}
	}
	return kept;
}

/*
 * Returns the index of the first of n elements whose key is value or above; n when there is none.
 * keys is the address of the first element's key, and size the bytes of an element.
 */
static inline size_t search_from(const void *keys, size_t size, size_t n, uint64_t value)
{
	const char *bytes = keys;
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		uint64_t key;

		memcpy(&key, bytes + middle * size, sizeof(key));
		if (key < value)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* As search_from, for a key above value. */
static inline size_t search_above(const void *keys, size_t size, size_t n, uint64_t value)
{
	return value == UINT64_MAX ? n : search_from(keys, size, n, value + 1);
}

/* search_list_from(list, n, addr, 16): the index of the first element with addr >= 16. */
#define search_list_from(list, n, member, value)                                         \
	((n) ? search_from(&(list)->member, sizeof(*(list)), (n), (value)) : 0)
#define search_list_above(list, n, member, value)                                        \
	((n) ? search_above(&(list)->member, sizeof(*(list)), (n), (value)) : 0)

#endif
