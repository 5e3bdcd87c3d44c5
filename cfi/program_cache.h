/* SPDX-License-Identifier: MIT */
/*
 * FDEs of one CIE with the same instructions. Compilers write the same few thousand
 * programs again and again: 2 thirds of a large library's FDEs repeat an earlier one. A
 * result for one of them holds for all, where cfi_table.movable says so.
 */
#ifndef CFI_PROGRAM_CACHE_H
#define CFI_PROGRAM_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "cfi/frames.h"

/* The value of a program that is met for the first time. */
#define CFI_PROGRAM_CACHE_NEW UINT32_MAX

struct cfi_program_cache {
	const struct cfi_frames *frames; /* borrowed; must outlive this */
	struct cfi_cache_slot *slots;	 /* owned */
	size_t cap, first_cap;
	struct cfi_cached_program *programs; /* owned */
	size_t n, cap_programs;
};

/* For about n_fdes FDEs. */
void cfi_program_cache_init(
    struct cfi_program_cache *cache, const struct cfi_frames *frames, size_t n_fdes);
void cfi_program_cache_deinit(struct cfi_program_cache *cache);

/*
 * The value that all FDEs like this one share. The caller may read and set it; it is
 * CFI_PROGRAM_CACHE_NEW at first. Valid until the next call. NULL when memory runs out.
 */
ATTR_MUST_CHECK uint32_t *cfi_program_cache_value(
    struct cfi_program_cache *cache, const struct cfi_fde *fde);

#endif
