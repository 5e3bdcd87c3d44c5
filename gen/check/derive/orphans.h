/* SPDX-License-Identifier: MIT */
/* Code that the file names nowhere: functions that were linked in and are not used. */
#ifndef GEN_CHECK_DERIVE_ORPHANS_H
#define GEN_CHECK_DERIVE_ORPHANS_H

#include "gen/check/derive/starts.h"
#include "gen/rows/derived.h"

/* The row in seen of an instruction that ends a way. The others have none. */
extern const struct cfi_row derive_seen_end;

/*
 * Adds starts in what of the gaps was not seen: where code begins behind the end of other code, at an
 * aligned address. seen gets sorted. Those in dropped are left out. *any: one was added. False: out
 * of memory.
 */
ATTR_MUST_CHECK bool derive_orphans_add(enum code_machine machine,
    const struct derive_gaps *gaps, struct derived *seen,
    const struct derive_starts *dropped, struct derive_starts *starts, bool *any);

#endif
