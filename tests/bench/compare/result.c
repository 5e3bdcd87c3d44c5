/* SPDX-License-Identifier: MIT */
/* The account of one format. */
#include "tests/bench/compare/formats.h"

const char *formats_reason_name(enum formats_reason reason)
{
	static const char *const names[FORMATS_N_REASONS] = {
	    [FORMATS_SAID] = "said",
	    [FORMATS_OVERLAP] = "overlap",
	    [FORMATS_BROKEN_PROGRAM] = "broken-program",
	    [FORMATS_NO_CFA] = "no-cfa",
	    [FORMATS_CFA_REGISTER] = "cfa-register",
	    [FORMATS_CFA_EXPRESSION] = "cfa-expression",
	    [FORMATS_CFA_OFFSET] = "cfa-offset",
	    [FORMATS_RA_PLACE] = "ra-place",
	    [FORMATS_FP_PLACE] = "fp-place",
	    [FORMATS_SP_RULE] = "sp-rule",
	    [FORMATS_OUTERMOST] = "outermost",
	    [FORMATS_SIGNAL_FRAME] = "signal-frame",
	    [FORMATS_SAVED_PLACE] = "saved-place",
	    [FORMATS_STACK_SIZE] = "stack-size",
	    [FORMATS_PERSONALITY] = "personality",
	    [FORMATS_FAR_CODE] = "far-code",
	    [FORMATS_NO_FRAME] = "no-frame",
	    [FORMATS_FRAME_UNSAID] = "frame-unsaid",
	    [FORMATS_OUTSIDE_BODY] = "outside-body",
	    [FORMATS_OTHER_FRAME] = "other-frame",
	};

	return names[reason];
}

void formats_result_code(
    struct formats_result *result, enum formats_reason reason, uint64_t bytes)
{
	if (bytes == 0)
		return;
	if (reason == FORMATS_SAID) {
		result->code_bytes += bytes;
		return;
	}
	result->escapes[reason].bytes += bytes;
	result->reasons |= UINT32_C(1) << reason;
}

void formats_result_end(struct formats_result *result)
{
	/* A format for calls promises nothing about the rest of a function. */
	uint32_t beyond = result->calls_only ? UINT32_C(1) << FORMATS_OUTSIDE_BODY : 0;

	result->functions += (result->reasons & ~beyond) == 0;
	for (int i = 1; i < FORMATS_N_REASONS; i++)
		result->escapes[i].functions += result->reasons >> i & 1;
	result->reasons = 0;
}
