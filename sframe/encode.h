/* SPDX-License-Identifier: MIT */
/*
 * A model to section bytes. The size of a section does not depend on its address, only
 * the function starts do; so sf_encode gives bytes whose start fields are 0, the caller
 * finds a place for them, and sf_place fills the fields in for that place.
 */
#ifndef SFRAME_ENCODE_H
#define SFRAME_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "sframe/model.h"

struct sf_encode_options {
	uint8_t version; /* 2 */
	bool pcrel;	 /* starts relative to their own field (else to the section) */
	bool share;	 /* equal blocks of rows stored once */
};

struct sf_encode_stats {
	size_t index_bytes; /* header and FDE array */
	size_t row_bytes;   /* FRE sub-section as stored */
	size_t shared_away; /* bytes of rows that sharing saved */
};

/*
 * Encodes into out (initialised by the caller, empty, in the section's byte order). Needs
 * funcs ascending by start and not overlapping, rows of each function ascending from 0
 * and below its size (PCMASK: below rep_size); a breach is ERR_INTERNAL. ERR_UNSUPPORTED:
 * a row the version cannot say (named). ERR_LIMIT: more than the fields can count. stats
 * may be NULL.
 */
ATTR_MUST_CHECK bool sf_encode(const struct sf_section *section,
	const struct sf_encode_options *options, struct wr *out,
	struct sf_encode_stats *stats, struct err *err);

/*
 * Fills in the function starts of sf_encode's bytes for a section at address addr.
 * ERR_LIMIT, naming the function's address, when one is out of the reach of the version's
 * field.
 */
ATTR_MUST_CHECK bool sf_place(const struct sf_section *section,
	const struct sf_encode_options *options, uint64_t addr, struct wr *out,
	struct err *err);

#endif
