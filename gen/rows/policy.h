/* SPDX-License-Identifier: MIT */
/* What keeps a whole FDE out, before its rows are looked at. */
#ifndef GEN_POLICY_H
#define GEN_POLICY_H

#include "cfi/frames.h"
#include "gen/arch/arch.h"
#include "gen/input/input.h"
#include "gen/options/options.h"
#include "gen/rows/refusal.h"
#include "gen/input/symbols.h"

/* Borrows everything. */
struct policy {
	const struct arch *arch;
	const struct image *image; /* the file the code is in */
	const struct symbols *symbols;
	const struct options *options;
};

/* The reason to leave out all of [fde->pc, fde->pc + fde->range), or REFUSE_NOTHING. */
enum refusal policy_fde(
    const struct policy *policy, const struct cfi_cie *cie, const struct cfi_fde *fde);

/* Whether --exclude-section names the section that pc is in. */
bool policy_section_excluded(const struct policy *policy, uint64_t pc);

#endif
