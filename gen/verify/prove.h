/* SPDX-License-Identifier: MIT */
/* Opens a section again, reads the CFI again, and compares the two. */
#ifndef GEN_VERIFY_PROVE_H
#define GEN_VERIFY_PROVE_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"
#include "gen/rows/coverage.h"
#include "gen/verify/verify.h"

/*
 * Proves a section against the CFI of cfi_image for the code of image. Reads everything
 * again; nothing is shared with a conversion. False on an error of its own; differences
 * are in *result.
 */
ATTR_MUST_CHECK bool prove_section(const struct image *image,
    const struct image *cfi_image, const struct sf_view *view,
    const struct options *options, struct verify_result *result, struct err *err);

/*
 * Turns a result into ERR_PROOF when it has differences. written: the code that this program has
 * just given rows, all of which the proof must have met; NULL: the section was there.
 */
ATTR_MUST_CHECK bool prove_judge(
    const struct verify_result *result, const struct coverage *written, struct err *err);

#endif
