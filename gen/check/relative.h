/* SPDX-License-Identifier: MIT */
/* Addresses of the file that dynamic relocations put into its data. */
#ifndef GEN_CHECK_RELATIVE_H
#define GEN_CHECK_RELATIVE_H

#include "base/attr.h"
#include "gen/sources/input.h"

/*
 * Calls note with each address that a relocation without a symbol names (R_*_RELATIVE, R_*_IRELATIVE,
 * SHT_RELR), in no order, some of them more than once. False as soon as note returns false.
 */
ATTR_MUST_CHECK bool validate_relative_each(
    const struct image *image, bool (*note)(void *context, uint64_t addr), void *context);

#endif
