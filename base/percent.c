/* SPDX-License-Identifier: MIT */
/* Rounds so that only nothing is 0 per cent and only the whole is 100. */
#include "base/percent.h"

#include <math.h>
#include <stdio.h>

double percent_of(uint64_t part, uint64_t whole)
{
	/* Counts that another program wrote can claim more than there is. */
	if (part >= whole)
		return whole ? 100.0 : (double)NAN;
	return 100.0 * (double)part / (double)whole;
}

const char *percent_text(
    uint64_t part, uint64_t whole, const char *sign, char text[PERCENT_SIZE])
{
	const double percent = percent_of(part, whole);

	if (!whole)
		snprintf(text, PERCENT_SIZE, "-");
	else if (part && percent < 0.01)
		snprintf(text, PERCENT_SIZE, "<0.01%s", sign);
	else
		snprintf(text, PERCENT_SIZE, "%.2f%s",
		    part < whole && percent > 99.99 ? 99.99 : percent, sign);
	return text;
}
