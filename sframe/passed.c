/* SPDX-License-Identifier: MIT */
/* One entry for each value of a hash of the rows' offset; the latest stays. */
#include "sframe/passed.h"

#include <stdlib.h>

/* The largest libraries have some hundred thousand blocks of rows. */
enum { MIN_BITS = 4, MAX_BITS = 17 };

struct sf_passed_rows {
	uint32_t rows_off, n_rows, last_start;
	uint8_t row_type;
	bool flex, used;
};

void sf_passed_init(struct sf_passed *passed, uint32_t n_funcs)
{
	passed->bits = MIN_BITS;
	while (passed->bits < MAX_BITS && n_funcs >> passed->bits)
		passed->bits++;
	passed->rows = calloc((size_t)1 << passed->bits, sizeof(*passed->rows));
}

void sf_passed_deinit(struct sf_passed *passed)
{
	free(passed->rows);
	passed->rows = NULL;
}

static struct sf_passed_rows *entry_of(
	const struct sf_passed *passed, const struct sf_view_func *func)
{
	const uint32_t factor = UINT32_C(0x9e3779b1);

	return &passed->rows[func->rows_off * factor >> (32 - passed->bits)];
}

bool sf_passed_find(const struct sf_passed *passed, const struct sf_view_func *func,
	uint32_t *last_start)
{
	const struct sf_passed_rows *entry;

	if (!passed->rows)
		return false;
	entry = entry_of(passed, func);
	if (!entry->used || entry->rows_off != func->rows_off ||
		entry->n_rows != func->func.n_rows || entry->row_type != func->row_type ||
		entry->flex != func->flex)
		return false;
	*last_start = entry->last_start;
	return true;
}

void sf_passed_add(
	struct sf_passed *passed, const struct sf_view_func *func, uint32_t last_start)
{
	if (!passed->rows)
		return;
	*entry_of(passed, func) = (struct sf_passed_rows){
		.rows_off = func->rows_off,
		.n_rows = func->func.n_rows,
		.last_start = last_start,
		.row_type = func->row_type,
		.flex = func->flex,
		.used = true,
	};
}
