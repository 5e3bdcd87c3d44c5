/* SPDX-License-Identifier: MIT */
/* Compares another source with .debug_frame where both describe code. */
#ifndef CFI_COMPARE_DEBUG_FRAME_H
#define CFI_COMPARE_DEBUG_FRAME_H

#include "base/attr.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"

/* Differences that are kept one by one; the others are only counted. */
#define CFI_DEBUG_DIFF_MAX_TOLD 16

/* Kinds of contradiction between an FDE of .debug_frame and the other source. */
enum cfi_debug_diff_kind {
	CFI_DEBUG_DIFF_DIFFER,
	/* The other source says where the frame pointer is saved, .debug_frame that it is unchanged. */
	CFI_DEBUG_DIFF_FP,
	/* The other source gives no caller, and .debug_frame has rules. */
	CFI_DEBUG_DIFF_NO_CALLER,
	CFI_DEBUG_DIFF_KINDS,
};

struct cfi_debug_diff {
	uint64_t bytes; /* of code with both */
	struct {
		uint64_t bytes; /* of those */
		size_t n;	/* FDEs of .debug_frame that have some */
	} kinds[CFI_DEBUG_DIFF_KINDS];
	struct cfi_debug_diff_told { /* the first address of the first ones that differ */
		uint64_t pc;
		uint64_t off; /* of the FDE in .debug_frame */
	} told[CFI_DEBUG_DIFF_MAX_TOLD];
	size_t n_told;
};

/*
 * Compares the rules of .debug_frame with those of a source, by its number, over ranges->shared. known: the producer is
 * one whose tables differ in the kinds FP and NO_CALLER, and without a rule its SP is the CFA. Rules that are
 * expressions without a form of their own are not compared, nor FDEs with damaged instructions. False only when memory
 * runs out.
 */
ATTR_MUST_CHECK bool cfi_debug_diff_read(const struct cfi_frames *frames,
    const struct cfi_ranges *ranges, const struct cfi_machine *machine,
    unsigned int source, bool known, struct cfi_debug_diff *agree);

#endif
