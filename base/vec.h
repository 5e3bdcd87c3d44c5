/* SPDX-License-Identifier: MIT */
/*
 * A growable array is 3 members of its owner: pointer, n, cap. This makes room in one.
 * The array grows by half, so appending is linear and wastes little.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/*
 * array_ptr is the address of the owner's pointer to its first element. Makes room for at
 * least need elements of elem_size bytes, of which *cap are there already. False when
 * memory runs out; the array is then as it was. The owner frees the array with free().
 */
ATTR_MUST_CHECK bool vec_reserve_bytes(
    void *array_ptr, size_t *cap, size_t need, size_t elem_size);

/* vec_reserve(&owner->rows, &owner->cap_rows, owner->n_rows + 1) */
#define vec_reserve(array_ptr, cap_ptr, need)                                            \
	((need) <= *(cap_ptr) ||                                                         \
	    vec_reserve_bytes((array_ptr), (cap_ptr), (need), sizeof(**(array_ptr))))

/*
 * Lets the kernel give a large array huge pages, which takes less time than page by page. For one that has got its final
 * size: the kernel moves what it has marked only by copying.
 */
void vec_prefer_huge(void *array, size_t bytes);

#endif
