/* SPDX-License-Identifier: MIT */
/* How the posted reader of .eh_frame reads a CIE, an FDE and their instructions. */
#ifndef GEN_VERIFY_LINT_EH_PROGRAM_H
#define GEN_VERIFY_LINT_EH_PROGRAM_H

#include "cfi/section.h"
#include "gen/arch/arch.h"
#include "gen/verify/lint_eh_frame.h"

/* Offsets are from the start of the section. */
struct lint_eh_cie {
	uint64_t off;
	enum lint_eh_rule broken; /* LINT_EH_KEPT, and then the others count */
	uint64_t code_align;
	int64_t data_align;
	uint64_t program, end;
	uint8_t encoding;
	bool has_data, signal_frame;
};

struct lint_eh_fde {
	uint64_t pc, size;
	uint64_t program, end;
};

struct lint_eh {
	const struct image *image;
	const struct arch *arch;
	struct cfi_section section; /* .eh_frame, with the reader's bases */
	uint64_t start;		    /* where the header says that it begins */
	struct lint_eh_cie cie;	    /* the last one */
	uint64_t at;		    /* where the last broken rule is */
	struct lint_eh_frame *result;
};

/* Counts a rule that is broken at off, from pc on for so many bytes. */
void lint_eh_broken(struct lint_eh *eh, enum lint_eh_rule rule, uint64_t off, uint64_t pc,
    uint64_t bytes);
/* Reads the FDE at off, and its CIE. */
enum lint_eh_rule lint_eh_read(struct lint_eh *eh, uint64_t off, struct lint_eh_fde *fde);
/* Judges the FDE at off, whose code counts from pc up to end. */
void lint_eh_func(struct lint_eh *eh, uint64_t off, uint64_t pc, uint64_t end);

#endif
