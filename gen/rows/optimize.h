/* SPDX-License-Identifier: MIT */
/* --optimize=share|size: the model made smaller, within what the file allows. */
#ifndef GEN_ROWS_OPTIMIZE_H
#define GEN_ROWS_OPTIMIZE_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/ranges.h"
#include "gen/rows/coverage.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"
#include "sframe/compact/compact.h"

/* Borrows everything. */
struct optimize_input {
	const struct image *image;
	const struct options *options;
	const struct cfi_ranges *ranges;
	const struct coverage *coverage;
};

/*
 * As sf_compact or, without options->optimize_size, sf_compact_equal, for the finished model of the
 * input. Pieces keep clear of code whose CFI was refused or that has none, stay inside
 * one executable segment, and apart from the functions of templates, which no CFI speaks
 * for.
 */
ATTR_MUST_CHECK bool optimize_model(const struct optimize_input *input,
    struct sf_section *section, struct sf_compact_stats *stats, struct err *err);

#endif
