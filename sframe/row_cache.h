/* SPDX-License-Identifier: MIT */
/*
 * Rows that have passed a check. Functions share rows, and what has been found right
 * about them once is right for the next function, too, but for its size. A cache and not
 * a record: it forgets, and without memory it knows nothing.
 */
#ifndef SFRAME_ROW_CACHE_H
#define SFRAME_ROW_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "sframe/decode.h"

struct sf_row_cache {
	struct cached_rows *rows; /* owned */
	unsigned int bits;	  /* there are 1 << bits of them */
};

/* For a section of n_funcs functions. */
void sf_row_cache_init(struct sf_row_cache *cache, uint32_t n_funcs);
void sf_row_cache_deinit(struct sf_row_cache *cache);

/* Whether the function's rows are known to be right; *last_start is then where the last
 * one begins. */
ATTR_MUST_CHECK bool sf_row_cache_find(const struct sf_row_cache *cache,
    const struct sf_view_func *func, uint32_t *last_start);
/* They are, and the last one begins there. */
void sf_row_cache_add(
    struct sf_row_cache *cache, const struct sf_view_func *func, uint32_t last_start);

#endif
