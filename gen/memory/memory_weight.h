/* SPDX-License-Identifier: MIT */
/*
 * What it costs to read images, held against what is mapped. Headers in memory can lie: each of many
 * images can claim all of it, and one can claim a page of a file that is mapped often.
 */
#ifndef GEN_MEMORY_MEMORY_WEIGHT_H
#define GEN_MEMORY_MEMORY_WEIGHT_H

#include "gen/memory/memory_headers.h"

/* Of sorted ranges: what they weigh. A range weighs its bytes and one. */
void memory_weigh(struct memory *memory);
/* Adds an image. ERR_MALFORMED when all together weigh more than twice the memory. */
ATTR_MUST_CHECK bool memory_weigh_image(
    struct memory *memory, const struct memory_headers *headers, struct err *err);

/* Whether an image of a process is more than its files have. ERR_MALFORMED when it has more than four
 * times the bytes of the pages of files in it; ERR_NOMEM. */
ATTR_MUST_CHECK bool memory_check_shared(
    const struct memory *memory, const struct memory_headers *headers, struct err *err);

#endif
