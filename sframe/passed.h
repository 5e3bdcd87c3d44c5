/* SPDX-License-Identifier: MIT */
/*
 * Rows that have passed a check. Functions share rows, and what has been found right
 * about them once is right for the next function, too, but for its size. A cache and not
 * a record: it forgets, and without memory it knows nothing.
 */
#ifndef SFRAME_PASSED_H
#define SFRAME_PASSED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "sframe/decode.h"

struct sf_passed {
	struct sf_passed_rows *rows; /* owned */
	unsigned int bits;	     /* there are 1 << bits of them */
};

/* For a section of n_funcs functions. */
void sf_passed_init(struct sf_passed *passed, uint32_t n_funcs);
void sf_passed_deinit(struct sf_passed *passed);

/* Whether the function's rows are known to be right; *last_start is then where the last
 * one begins. */
ATTR_MUST_CHECK bool sf_passed_find(const struct sf_passed *passed,
	const struct sf_view_func *func, uint32_t *last_start);
/* They are, and the last one begins there. */
void sf_passed_add(
	struct sf_passed *passed, const struct sf_view_func *func, uint32_t last_start);

#endif
