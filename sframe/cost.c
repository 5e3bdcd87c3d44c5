/* SPDX-License-Identifier: MIT */
/* Reads a section for what its FDEs cost. */
#include "sframe/cost.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/search.h"
#include "sframe/format.h"

static bool cost_read(
    const struct sf_view *view, uint32_t i, struct sf_cost *cost, struct err *err)
{
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct sf_row row;
	uint64_t begin;

	if (!sf_view_func(view, i, &func, err))
		return false;
	*cost = (struct sf_cost){.start = func.func.start,
	    .size = func.func.size,
	    .n_rows = func.func.n_rows,
	    .index_bytes = view->func_size,
	    .rows_off = func.rows_off};
	sf_rows_begin(view, &func, &iter);
	begin = iter.off;
	while (sf_rows_next(&iter, &row, err))
		;
	if (iter.failed)
		return false;
	if (view->version >= SFRAME_VERSION_3)
		begin -= SFRAME_V3_ATTR_SIZE;
	return num_u32(iter.off - begin, &cost->row_bytes) ||
	       err_set(err, ERR_INTERNAL, "the rows take 4 GiB or more");
}

static bool count_users(struct sf_costs *costs, struct err *err)
{
	uint64_t *offs = calloc(costs->n + 1, sizeof(*offs));

	if (!offs)
		return err_set_nomem(err);
	for (size_t i = 0; i < costs->n; i++)
		offs[i] = costs->list[i].rows_off;
	qsort(offs, costs->n, sizeof(*offs), search_order);
	for (size_t i = 0; i < costs->n; i++) {
		uint64_t off = costs->list[i].rows_off;

		costs->list[i].users =
		    (uint32_t)(search_above(offs, sizeof(*offs), costs->n, off) -
			       search_from(offs, sizeof(*offs), costs->n, off));
	}
	free(offs);
	return true;
}

bool sf_costs_read(const struct sf_view *view, struct sf_costs *costs, struct err *err)
{
	costs->list = calloc((size_t)view->n_funcs + 1, sizeof(*costs->list));
	if (!costs->list)
		return err_set_nomem(err);
	for (; costs->n < view->n_funcs; costs->n++) {
		if (!cost_read(view, (uint32_t)costs->n, &costs->list[costs->n], err))
			return false;
	}
	return count_users(costs, err);
}

void sf_costs_deinit(struct sf_costs *costs)
{
	free(costs->list);
	*costs = (struct sf_costs){0};
}
