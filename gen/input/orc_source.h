/* SPDX-License-Identifier: MIT */
/* The ORC tables of a kernel or of a kernel module, as call frame instructions. */
#ifndef GEN_INPUT_ORC_SOURCE_H
#define GEN_INPUT_ORC_SOURCE_H

#include "gen/input/input.h"
#include "orc/orc_cfi.h"

struct orc_source {
	bool present;	  /* the file has the tables */
	uint64_t size;	  /* bytes of both sections */
	size_t n_entries; /* in .orc_unwind */
	enum orc_layout layout;
	struct orc_cfi cfi;
};

/*
 * Finds the tables and makes records of them. source->present is false where image has none, or is for
 * another machine than x86-64. ERR_MALFORMED, ERR_UNSUPPORTED, ERR_LIMIT, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool image_orc_source(
    const struct image *image, struct orc_source *source, struct err *err);
/* Whether there are tables. */
bool image_has_orc_source(const struct image *image);
void image_orc_source_deinit(struct orc_source *source); /* accepts a zeroed struct */

#endif
