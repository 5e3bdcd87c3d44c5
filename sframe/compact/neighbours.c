/* SPDX-License-Identifier: MIT */
/*
 * The least that can be done for size: an FDE for each stretch of functions with one and
 * the same row, such as leaf functions, instead of one for each of them.
 */
#include "base/num.h"
#include "sframe/compact/internal.h"

/* True if the function has a single row, which another function could continue. */
static bool has_one_row(const struct sf_section *section, const struct sf_func *func)
{
	return func->n_rows == 1 && section->rows[func->first_row].start == 0;
}

bool compact_equal_rows(
    const struct sf_section *section, const struct sf_func *a, const struct sf_func *b)
{
	return has_one_row(section, a) && has_one_row(section, b) &&
	       sf_row_same(&section->rows[a->first_row], &section->rows[b->first_row]);
}

/* True if both, b behind a, have the same single row; *size is that of the two together.
 * The cheapest questions come first, because most functions have more rows or others. */
static bool can_join(struct compact *compact, const struct sf_func *a,
    const struct sf_func *b, uint32_t *size)
{
	const struct sf_row *rows = compact->section->rows;

	return sf_row_same(&rows[a->first_row], &rows[b->first_row]) &&
	       num_u32(b->start + b->size - a->start, size) &&
	       *size <= COMPACT_SIZE_MAX && !compact_border(compact, a, b);
}

bool sf_compact_equal(struct sf_section *section,
    const struct sf_compact_options *options, struct sf_compact_stats *stats,
    struct err *err)
{
	struct sf_compact_stats result = {.n_before = section->n_funcs};
	struct sf_func *last = NULL; /* that may go on */
	struct compact compact;

	if (!compact_begin(&compact, section, options, err))
		return false;
	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];
		bool one = has_one_row(section, func) && compact_movable(&compact, func);
		uint32_t size;

		result.rows_before += func->n_rows;
		if (one && last && can_join(&compact, last, func, &size)) {
			/* The rows stay as they are: others may have the same ones. */
			result.padding_bytes += func->start - last->start - last->size;
			last->size = size;
			continue;
		}
		section->funcs[result.n_funcs] = *func;
		last = one ? &section->funcs[result.n_funcs] : NULL;
		result.n_funcs++;
		result.n_rows += func->n_rows;
	}
	section->n_funcs = result.n_funcs;
	if (stats)
		*stats = result;
	return true;
}
