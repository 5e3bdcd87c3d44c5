/* SPDX-License-Identifier: MIT */
/*
 * Finds FDEs of one CIE with the same instructions. Compilers write the same few thousand
 * programs again and again: 2 thirds of a large library's FDEs repeat an earlier one. A
 * result for one of them holds for all, where cfi_table.movable says so.
 */
#ifndef CFI_PROGRAM_CACHE_H
#define CFI_PROGRAM_CACHE_H

#include <stddef.h>

#include "base/attr.h"
#include "base/hash.h"
#include "base/hash_slots.h"
#include "cfi/frames.h"

struct cfi_program_cache {
	struct hash_key key;
	const struct cfi_frames *frames;     /* borrowed; must outlive this */
	struct slots slots;		     /* owned */
	size_t expected;		     /* programs */
	struct cfi_cached_program *programs; /* owned */
	size_t n, cap_programs;
};

/* Begins with no program; about n_fdes FDEs are expected. Cannot fail. */
void cfi_program_cache_init(
    struct cfi_program_cache *cache, const struct cfi_frames *frames, size_t n_fdes);
void cfi_program_cache_deinit(struct cfi_program_cache *cache);

/*
 * *number becomes one that all FDEs like this one share, and no others. They are counted
 * from 0 in the order in which they come up: it is cache->n less one for a new program.
 * False when memory runs out.
 */
ATTR_MUST_CHECK bool cfi_program_cache_find(
    struct cfi_program_cache *cache, const struct cfi_fde *fde, size_t *number);

#endif
