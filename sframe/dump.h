/* SPDX-License-Identifier: MIT */
/* A section as text, in the shape readelf --sframe prints. */
#ifndef SFRAME_DUMP_H
#define SFRAME_DUMP_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "sframe/decode.h"

/* The word behind a row that holds for the addresses [start, end); NULL: none. */
typedef const char *sf_dump_mark_fn(
    void *context, const struct sf_row *row, uint64_t start, uint64_t end);

/*
 * Prints until the first damage; what came before it stands. name is the section's. mark may be
 * NULL; it is not asked for rows that repeat (PCMASK).
 */
ATTR_MUST_CHECK bool sf_dump(const struct sf_view *view, const char *name,
    sf_dump_mark_fn *mark, void *context, FILE *out, struct err *err);

#endif
