/* SPDX-License-Identifier: MIT */
/* An FDE with its CIE and instructions, as the posted reader of .eh_frame sees it. */
#ifndef GEN_VERIFY_LINT_EH_PROGRAM_H
#define GEN_VERIFY_LINT_EH_PROGRAM_H

#include "base/rd.h"
#include "cfi/frames.h"
#include "gen/arch/arch.h"
#include "gen/verify/lint_eh_frame.h"

struct lint_eh {
	const struct image *image;
	const struct arch *arch;
	struct cfi_frames frames;
	/* Offset in the section at which .eh_frame begins, by its header. */
	uint64_t start;
	struct lint_eh_frame *result;
};

/* Counts a rule that is broken at off, and from pc on for so many bytes of code. */
void lint_eh_broken(struct lint_eh *eh, enum lint_eh_rule rule, uint64_t off, uint64_t pc,
    uint64_t bytes);
/* Judges an FDE, whose code counts up to end. */
void lint_eh_func(struct lint_eh *eh, const struct cfi_fde *fde, uint64_t end);

#endif
