/* SPDX-License-Identifier: MIT */
/* Answers about a section that a file has, in words on a stream. */
#ifndef GEN_REPORT_INSPECT_H
#define GEN_REPORT_INSPECT_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"

/* dump: the section as text. ERR_NOTHING without one. */
ATTR_MUST_CHECK bool report_dump(const struct image *image, FILE *out, struct err *err);

/* verify: differences between the section and the CFI of cfi_image, which may be the
 * same, one per line, then a summary; ERR_PROOF when there are any. */
ATTR_MUST_CHECK bool report_verify(const struct image *image,
    const struct image *cfi_image, const struct options *options, FILE *out,
    struct err *err);

/* lint: broken rules of the reader of that name, one per line, then a summary. "all" is
 * each reader that the section is meant for. ERR_MALFORMED when a rule is broken. */
ATTR_MUST_CHECK bool report_lint(const struct image *image, const char *reader,
    const struct options *options, FILE *out, struct err *err);

#endif
