/* SPDX-License-Identifier: MIT */
/* The account of one format. */
#include "formats/formats.h"

static const struct {
	const char *name, *text;
} reasons[FORMATS_N_REASONS] = {{"said", ""},
#define FORMATS_ROW(id, reason, words) {reason, words},
    FORMATS_REASONS(FORMATS_ROW)
#undef FORMATS_ROW
};

const char *formats_reason_name(enum formats_reason reason)
{
	return reasons[reason].name;
}

const char *formats_reason_text(enum formats_reason reason)
{
	return reasons[reason].text;
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
