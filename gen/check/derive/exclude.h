/* SPDX-License-Identifier: MIT */
/* --exclude-section and --exclude-symbol hold for derived rows, too. */
#ifndef GEN_CHECK_DERIVE_EXCLUDE_H
#define GEN_CHECK_DERIVE_EXCLUDE_H

#include "base/attr.h"
#include "gen/rows/derived.h"
#include "gen/rows/policy.h"

/*
 * Takes away rows of what the policy leaves out: a section, or a function up to its symbol's size,
 * without a size up to the next symbol. rows is sorted and stays so. False: out of memory.
 */
ATTR_MUST_CHECK bool derive_exclude(const struct policy *policy, struct derived *rows);

#endif
