/* SPDX-License-Identifier: MIT */
/* Whether .eh_frame or Go's table and .debug_frame say the same where both speak. */
#ifndef CFI_AGREE_H
#define CFI_AGREE_H

#include "base/attr.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"

/* No more differences are told one by one. */
#define CFI_AGREE_MAX_TOLD 16

/* What FDEs of .debug_frame say otherwise, by kind. */
enum cfi_agree_kind {
	CFI_AGREE_DIFFER,
	/* Of Go's table alone, and known: it says where the frame pointer is, .debug_frame that it is
	 * unchanged; */
	CFI_AGREE_FP,
	/* it gives no caller, and .debug_frame has rules. */
	CFI_AGREE_NO_CALLER,
	CFI_AGREE_KINDS,
};

struct cfi_agree {
	uint64_t bytes; /* of code with both */
	struct {
		uint64_t bytes; /* of those */
		size_t n;	/* FDEs of .debug_frame that have some */
	} kinds[CFI_AGREE_KINDS];
	struct cfi_agree_told { /* the first address of the first ones that differ */
		uint64_t pc;
		uint64_t off; /* of the FDE in .debug_frame */
	} told[CFI_AGREE_MAX_TOLD];
	size_t n_told;
};

/*
 * Compares the rules of .debug_frame with those of .eh_frame, or (go) with those of Go's table, over
 * ranges->shared. Rules that are expressions without a form of their own are not compared, nor
 * FDEs with damaged instructions. False only when memory runs out.
 */
ATTR_MUST_CHECK bool cfi_agree_read(const struct cfi_frames *frames,
    const struct cfi_ranges *ranges, const struct cfi_machine *machine, bool go,
    struct cfi_agree *agree);

#endif
