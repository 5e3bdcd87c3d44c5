/* SPDX-License-Identifier: MIT */
/*
 * A model to section bytes, of any version. The size of a section does not depend on its
 * address, only the function starts do; so sf_encode gives bytes whose start fields are
 * 0, the caller finds a place for them, and sf_place fills the fields in for that place.
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

/* X(ENUMERATOR, "what it is that cannot be said") */
#define SF_CANNOTS(X)                                                                    \
	X(VERSION, "anything: there is no such version")                                 \
	X(ABI, "anything: the version does not define the ABI")                          \
	X(OUTERMOST, "that a frame is the outermost")                                    \
	X(NO_CFA, "a row without a CFA")                                                 \
	X(CFA_BASE, "a CFA that is neither SP nor FP plus an offset")                    \
	X(CFA_OFFSET, "a CFA whose offset is not a multiple of 8")                       \
	X(RA_NOT_FIXED, "an RA that is not where the header fixes it")                   \
	X(RA_PLACE, "an RA that is not in memory at an offset from the CFA")             \
	X(RA_AT_0, "an RA that is in memory at the CFA itself")                          \
	X(FP_PLACE, "an FP that is not in memory at an offset from the CFA")             \
	X(FP_ALONE, "that FP is saved and RA is not")                                    \
	X(SLOT, "a stack slot at an odd offset")                                         \
	X(REGISTER, "a register with a number above 31")                                 \
	X(SIGNED, "a signed RA on an ABI without pointer authentication")

/* Reasons why a version cannot hold a row. */
enum sf_cannot {
	SF_CAN = 0,
#define SF_CANNOT_ENUMERATOR(id, text) SF_CANNOT_##id,
	SF_CANNOTS(SF_CANNOT_ENUMERATOR)
#undef SF_CANNOT_ENUMERATOR
	    SF_N_CANNOT,
};

/*
 * Returns SF_CAN if sf_encode can write the row, in a function of its own or among others that can be
 * written, else the reason. Outermost rows of version 2, which need an option, count as SF_CANNOT_OUTERMOST.
 */
enum sf_cannot sf_can_express(uint8_t version, uint8_t abi, const struct sf_row *row);
/* Completes "version N cannot say". */
const char *sf_cannot_text(enum sf_cannot cannot);

struct sf_encode_options {
	uint8_t version; /* SFRAME_VERSION_* */
	bool pcrel;	 /* starts relative to their own field (else to the section) */
	bool share;	 /* equal blocks of rows stored once */
	bool unsorted;	/* in a relocatable file, where only the linker knows the order */
	bool outermost; /* version 2: outermost rows, which older readers reject */
};

struct sf_encode_stats {
	size_t index_bytes; /* header and FDE array */
	size_t row_bytes;   /* FRE sub-section as stored */
	size_t shared_away; /* bytes of rows that sharing saved */
	uint32_t n_funcs; /* as the header counts them; version 1 has more than the model
			   */
	uint64_t n_rows;
};

/*
 * Encodes into out (initialised by the caller, empty, in the section's byte order). Needs
 * funcs ascending by start and not overlapping, rows of each function ascending from 0
 * and below its size (PCMASK: below rep_size); a breach is ERR_INTERNAL. Only a signal
 * frame of version 3 may have no rows. In version 1 a PCMASK function becomes one for
 * each of its blocks. ERR_UNSUPPORTED: a row the version cannot say (named). ERR_LIMIT:
 * more than the fields can count. stats may be NULL.
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
