/* SPDX-License-Identifier: MIT */
/*
 * FDEs of one CIE with the same instructions. Compilers write the same few thousand
 * programs over and over: two thirds of a large library's FDEs repeat one before them.
 * What was found out about one of them holds for all, where cfi_table.movable says so.
 */
#ifndef CFI_SAME_H
#define CFI_SAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "cfi/frames.h"

/* The value of a program that is met for the first time. */
#define CFI_SAME_NEW UINT32_MAX

struct cfi_same {
	const struct cfi_frames *frames; /* borrowed; must outlive this */
	struct cfi_same_slot *slots;	 /* owned */
	size_t cap, first_cap;
	struct cfi_same_program *programs; /* owned */
	size_t n, cap_programs;
};

/* For about n_fdes FDEs. */
void cfi_same_init(struct cfi_same *same, const struct cfi_frames *frames, size_t n_fdes);
void cfi_same_deinit(struct cfi_same *same);

/*
 * A hint: there will be a question about this FDE, CFI_SAME_AHEAD questions from now. A
 * large library's table is in no cache, and waiting for it would be half of the answer's
 * time.
 */
enum { CFI_SAME_AHEAD = 8 };
void cfi_same_expect(const struct cfi_same *same, const struct cfi_fde *fde);

/*
 * The value that all FDEs like this one share, for the caller to read and set;
 * CFI_SAME_NEW at first. Valid until the next call. NULL when memory runs out.
 */
ATTR_MUST_CHECK uint32_t *cfi_same_value(
	struct cfi_same *same, const struct cfi_fde *fde);

#endif
