/* SPDX-License-Identifier: MIT */
/*
 * An .sframe of any producer beside the code itself: its rows, at each instruction, against the
 * state that the instructions lead to. CFI only says where exceptions continue and where functions
 * begin; a file can do without.
 */
#ifndef GEN_VERIFY_CODE_WITNESS_H
#define GEN_VERIFY_CODE_WITNESS_H

#include "base/attr.h"
#include "base/err.h"
#include "gen/rows/cfi_input.h"
#include "gen/check/validate.h"
#include "sframe/decode.h"

/*
 * Checks the rows of a section against the code of image. Fills in *input, whose ranges become those
 * of *result; it must not move afterwards. cfi_image is as for prove_section. ERR_MALFORMED when the
 * section or the CFI is damaged, ERR_UNSUPPORTED when this build cannot decode the code. Both are
 * freed by the caller, after a failure, too.
 */
ATTR_MUST_CHECK bool verify_by_code(const struct image *image,
    const struct image *cfi_image, const struct sf_view *view,
    const struct options *options, struct cfi_input *input,
    struct validate_result *result, struct err *err);

#endif
