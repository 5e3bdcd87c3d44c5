/* SPDX-License-Identifier: MIT */
/* What the code says of the CFI, in words. */
#ifndef GEN_REPORT_CHECK_CODE_H
#define GEN_REPORT_CHECK_CODE_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/options/options.h"
#include "gen/validate/validate.h"

/* "late", "early", "missing" or "misplaced". */
const char *report_fault_kind_name(enum validate_fault_kind kind);

/* --check-code: rows that contradict the instructions, then a summary; ERR_PROOF when there are
 * any, ERR_UNSUPPORTED when this build cannot decode the machine's code. */
ATTR_MUST_CHECK bool report_check_code(
    const struct image *image, const struct options *options, FILE *out, struct err *err);

#endif
