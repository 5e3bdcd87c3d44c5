/* SPDX-License-Identifier: MIT */
/* Bytes that each FDE of a section costs. */
#ifndef SFRAME_COST_H
#define SFRAME_COST_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "sframe/decode.h"

struct sf_cost {
	uint64_t start; /* address */
	uint32_t size, n_rows;
	uint32_t index_bytes; /* its place in the FDE array */
	uint32_t row_bytes;   /* its rows, and in version 3 the attribute before them */
	uint32_t users;	      /* FDEs whose rows begin where its rows do */
	uint32_t rows_off;
};

struct sf_costs {
	struct sf_cost *list; /* owned; ascending by start */
	size_t n;
};

/* Reads the costs of all FDEs of a section that sf_encode made. */
ATTR_MUST_CHECK bool sf_costs_read(
    const struct sf_view *view, struct sf_costs *costs, struct err *err);
void sf_costs_deinit(struct sf_costs *costs);

#endif
