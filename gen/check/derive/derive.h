/* SPDX-License-Identifier: MIT */
/*
 * Rows for executable code that no CFI describes (--derive): where a function is known to begin,
 * its instructions tell where the CFA, the return address and the caller's frame pointer are.
 * docs/CODE.md says what this proves and what it assumes.
 */
#ifndef GEN_CHECK_DERIVE_DERIVE_H
#define GEN_CHECK_DERIVE_DERIVE_H

#include "base/attr.h"
#include "base/err.h"
#include "gen/rows/cfi_input.h"

/*
 * Fills in the derived rows of input, if its options ask for them. The result does not depend on
 * the number of threads. ERR_UNSUPPORTED for objects, and for machines whose code this build
 * cannot decode; ERR_NOMEM.
 */
ATTR_MUST_CHECK bool derive_rows(const struct image *image, struct cfi_input *input,
    const struct options *options, struct err *err);

#endif
