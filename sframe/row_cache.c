/* SPDX-License-Identifier: MIT */
/* One entry for each value of a hash of the rows' offset; the latest stays. */
#include "sframe/row_cache.h"

#include <stdlib.h>

/* The largest libraries have some hundred thousand blocks of rows. */
enum { MIN_BITS = 4, MAX_BITS = 17 };

struct cached_rows {
	uint32_t rows_off, n_rows, last_start;
	uint8_t row_type;
	bool flex, used;
};

void sf_row_cache_init(struct sf_row_cache *cache, uint32_t n_funcs)
{
	cache->bits = MIN_BITS;
	while (cache->bits < MAX_BITS && n_funcs >> cache->bits)
		cache->bits++;
	cache->rows = calloc((size_t)1 << cache->bits, sizeof(*cache->rows));
}

void sf_row_cache_deinit(struct sf_row_cache *cache)
{
	free(cache->rows);
	cache->rows = NULL;
}

static struct cached_rows *entry_of(
    const struct sf_row_cache *cache, const struct sf_view_func *func)
{
	const uint32_t factor = UINT32_C(0x9e3779b1);

	return &cache->rows[func->rows_off * factor >> (32 - cache->bits)];
}

bool sf_row_cache_find(const struct sf_row_cache *cache, const struct sf_view_func *func,
    uint32_t *last_start)
{
	const struct cached_rows *entry;

	if (!cache->rows)
		return false;
	entry = entry_of(cache, func);
	if (!entry->used || entry->rows_off != func->rows_off ||
	    entry->n_rows != func->func.n_rows || entry->row_type != func->row_type ||
	    entry->flex != func->flex)
		return false;
	*last_start = entry->last_start;
	return true;
}

void sf_row_cache_add(
    struct sf_row_cache *cache, const struct sf_view_func *func, uint32_t last_start)
{
	if (!cache->rows)
		return;
	*entry_of(cache, func) = (struct cached_rows){
	    .rows_off = func->rows_off,
	    .n_rows = func->func.n_rows,
	    .last_start = last_start,
	    .row_type = func->row_type,
	    .flex = func->flex,
	    .used = true,
	};
}
