/* SPDX-License-Identifier: MIT */
/*
 * A hash table of indices into an array of its owner: linear probing, at most half full.
 * The owner compares what the indices stand for; a walk from slots_first ends at a free
 * slot, which is where the new one belongs. Hashes come from base/hash.h, so that no file can choose them.
 */
#ifndef BASE_HASH_SLOTS_H
#define BASE_HASH_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Small, as most of what a large table costs is to fetch its memory. */
struct slot {
	uint32_t hash;
	uint32_t number; /* one more than the index; 0: free */
};

/* Zeroed by the owner, who frees list. */
struct slots {
	struct slot *list;
	size_t cap; /* a power of two, or 0 */
};

ATTR_MUST_CHECK bool slots_grow(struct slots *slots, size_t n);

/* Makes room for n indices; false when memory runs out, with the table as it was. */
ATTR_MUST_CHECK static inline bool slots_reserve(struct slots *slots, size_t n)
{
	return n <= slots->cap / 2 || slots_grow(slots, n);
}

/* Where the walk for a hash begins, in a table that has room. */
static inline struct slot *slots_first(const struct slots *slots, uint32_t hash)
{
	return &slots->list[hash & (slots->cap - 1)];
}

static inline struct slot *slots_next(const struct slots *slots, const struct slot *slot)
{
	return &slots->list[(size_t)(slot - slots->list + 1) & (slots->cap - 1)];
}

#endif
