/* SPDX-License-Identifier: MIT */
/* The account of a conversion. */
#include "gen/coverage.h"

#include <stdlib.h>

double coverage_percent(const struct coverage *coverage)
{
	if (coverage->code_bytes == 0)
		return 100.0;
	return 100.0 * (double)coverage->covered_bytes / (double)coverage->code_bytes;
}

void coverage_deinit(struct coverage *coverage)
{
	free(coverage->gaps);
	*coverage = (struct coverage){0};
}
