/* SPDX-License-Identifier: MIT */
/*
 * The encodings of arm64. From bit 0 on there are 5 bits for the pairs x19-x20 to x27-x28,
 * from bit 8 on 4 bits for the pairs d8-d9 to d14-d15. Pairs are saved in this order, each
 * register 8 bytes below the one before. In a frame they stand below FP and LR, to which FP
 * points, and the CFA is FP + 16. Without a frame they stand below the CFA, LR holds the
 * return address, and bits 12 to 23 are the stack's size / 16.
 *
 * GCC puts FP and LR at the lowest address of a frame and takes the CFA from SP, which no
 * encoding can say.
 */
#include "tests/bench/compare/unwind.h"

const uint16_t formats_arm64_saved[18] = {
    19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 72, 73, 74, 75, 76, 77, 78, 79};

enum {
	ARM64_FP = 29,
	ARM64_SP = 31,
	ARM64_PAIRS = 9,
	ARM64_X_PAIRS = 5,
	ARM64_D_BIT = 8, /* of the first pair of d registers */
};

static uint32_t arm64_pair_bit(int pair)
{
	return UINT32_C(1) << (pair < ARM64_X_PAIRS ? pair
						    : pair - ARM64_X_PAIRS + ARM64_D_BIT);
}

/* Pairs from CFA + below on downwards. */
static bool arm64_pairs(
    const struct formats_saved *saved, int32_t below, uint32_t *encoding)
{
	for (int pair = 0; pair < ARM64_PAIRS; pair++) {
		const int32_t *at = &saved->at[2 * pair];

		if (at[0] == FORMATS_SAVED_NOT && at[1] == FORMATS_SAVED_NOT)
			continue;
		if (at[0] != below || at[1] != below - 8)
			return false;
		*encoding |= arm64_pair_bit(pair);
		below -= 16;
	}
	return true;
}

enum formats_reason formats_arm64_encode(
    const struct formats_body *body, uint32_t *encoding)
{
	const struct formats_answer *answer = &body->answer;
	const struct cfi_rule *cfa = &answer->cfa;
	int32_t below = -8;

	if (answer->outermost)
		return FORMATS_OUTERMOST;
	if (cfa->kind != CFI_REG_PLUS)
		return FORMATS_CFA_EXPRESSION;
	if (cfa->reg == ARM64_FP) {
		if (cfa->off != 16)
			return FORMATS_CFA_OFFSET;
		if (answer->ra.kind != CFI_AT_CFA || answer->ra.off != -8)
			return FORMATS_RA_PLACE;
		if (answer->fp.kind != CFI_AT_CFA || answer->fp.off != -16)
			return FORMATS_FP_PLACE;
		*encoding = UNWIND_ARM64_MODE_FRAME;
		below = -24;
	} else if (cfa->reg == ARM64_SP) {
		if (answer->ra.kind != CFI_SAME)
			return FORMATS_RA_PLACE;
		if (answer->fp.kind != CFI_SAME)
			return FORMATS_FP_PLACE;
		if (cfa->off < 0 || cfa->off % 16 || cfa->off > 0xfff * 16)
			return FORMATS_CFA_OFFSET;
		*encoding = UNWIND_ARM64_MODE_FRAMELESS | (uint32_t)(cfa->off / 16) << 12;
	} else {
		return FORMATS_CFA_REGISTER;
	}
	return arm64_pairs(&body->saved, below, encoding) ? FORMATS_SAID
							  : FORMATS_SAVED_PLACE;
}

bool formats_arm64_decode(
    uint32_t encoding, struct formats_answer *answer, struct formats_saved *saved)
{
	uint32_t mode = encoding & UNWIND_MODE_MASK;
	int32_t at = -8;

	*answer = (struct formats_answer){0};
	*saved = (struct formats_saved){0};
	if (mode == UNWIND_ARM64_MODE_FRAME) {
		answer->cfa =
		    (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = ARM64_FP, .off = 16};
		answer->ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -8};
		answer->fp = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -16};
		at = -24;
	} else if (mode == UNWIND_ARM64_MODE_FRAMELESS) {
		answer->cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = ARM64_SP};
		answer->cfa.off = 16 * (int64_t)(encoding >> 12 & 0xfff);
		answer->ra = answer->fp = (struct cfi_rule){.kind = CFI_SAME};
	} else {
		return false;
	}
	for (int pair = 0; pair < ARM64_PAIRS; pair++) {
		if (!(encoding & arm64_pair_bit(pair)))
			continue;
		saved->at[2 * pair] = at;
		saved->at[2 * pair + 1] = at - 8;
		at -= 16;
	}
	return true;
}
