/* SPDX-License-Identifier: MIT */
/* Everything read from one file before a row is interpreted: its CFI, which FDE
 * owns which code, and the policy for its machine. */
#ifndef GEN_ROWS_CFI_INPUT_H
#define GEN_ROWS_CFI_INPUT_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "cfi/ranges.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"
#include "gen/sources/cfi_sources.h"
#include "gen/rows/corrections.h"
#include "gen/rows/derived.h"
#include "gen/rows/policy.h"
#include "gen/sources/symbols_read.h"

struct cfi_input {
	const struct arch *arch;
	struct symbols symbols; /* empty unless names are needed */
	struct cfi_sources sources;
	struct cfi_count { /* of each source, in frames */
		size_t n_cies, n_fdes;
	} counts[N_SOURCES];
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct corrections corrections; /* none, until the code was asked */
	struct derived derived; /* rows of code without CFI; none, until it was asked */
	/* Borrows the members above: so this struct does not move. */
	struct policy policy;
};

/*
 * Reads the CFI of cfi_image (which may be image itself, or the unstripped original) for
 * the code of image. Borrows both. ERR_NOTHING without CFI, ERR_MALFORMED when all of it
 * is damaged.
 */
ATTR_MUST_CHECK bool cfi_input_read(const struct image *image,
    const struct image *cfi_image, const struct options *options, struct cfi_input *input,
    struct err *err);
/* True if image is a linked file, whose code is complete; else ERR_UNSUPPORTED. */
ATTR_MUST_CHECK bool cfi_input_can_derive(const struct image *image, struct err *err);
/* True if the machine has the version of SFrame, and the reader reads it; else ERR_UNSUPPORTED. */
ATTR_MUST_CHECK bool cfi_input_defines(
    const struct cfi_input *input, const struct options *options, struct err *err);
/* Frees everything but what a report needs. */
void cfi_input_forget(struct cfi_input *input);
void cfi_input_deinit(struct cfi_input *input);

#endif
