/* SPDX-License-Identifier: MIT */
/* Whether .eh_frame and .debug_frame say the same where both speak. */
#ifndef CFI_AGREE_H
#define CFI_AGREE_H

#include "base/attr.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"

/* No more differences are told one by one. */
#define CFI_AGREE_MAX_TOLD 16

struct cfi_agree {
	uint64_t bytes;		/* of code with both */
	uint64_t differ_bytes;	/* of those, with other rules */
	size_t n_differ;	/* FDEs of .debug_frame that have some */
	struct cfi_agree_told { /* the first address of the first ones */
		uint64_t pc;
		uint64_t off; /* of the FDE in .debug_frame */
	} told[CFI_AGREE_MAX_TOLD];
	size_t n_told;
};

/*
 * Compares the rules of both sections over ranges->shared. Rules that are expressions
 * without a form of their own are not compared, nor FDEs with damaged instructions. False
 * only when memory runs out.
 */
ATTR_MUST_CHECK bool cfi_agree_read(const struct cfi_frames *frames,
    const struct cfi_ranges *ranges, const struct cfi_machine *machine,
    struct cfi_agree *agree);

#endif
