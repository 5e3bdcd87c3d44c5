/* SPDX-License-Identifier: MIT */
/* Turns all FDEs into one model: sorted functions that do not overlap, and the account of what is missing. */
#ifndef GEN_ROWS_COLLECT_H
#define GEN_ROWS_COLLECT_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "cfi/ranges.h"
#include "gen/rows/coverage.h"
#include "gen/rows/policy.h"
#include "sframe/model.h"

/*
 * Interprets and reduces every covered range. section (zeroed by the caller) gets the
 * functions in ascending order, coverage (zeroed too) the account. False only when memory
 * runs out; a damaged program is a refusal of its FDE.
 */
ATTR_MUST_CHECK bool collect_cfi(const struct cfi_frames *frames,
    const struct cfi_ranges *ranges, const struct policy *policy,
    struct sf_section *section, struct coverage *coverage, struct err *err);

/* Sorts what collect_cfi and the PLT stage added; ERR_INTERNAL when functions overlap. */
ATTR_MUST_CHECK bool collect_finish(struct sf_section *section, struct err *err);

#endif
