/* SPDX-License-Identifier: MIT */
/* The verb diff: what changed from one JSON report to another. */
#ifndef CMD_REPORT_DIFF_H
#define CMD_REPORT_DIFF_H

#include "cmd/common/args.h"

/* Returns the exit status. */
int report_diff(const struct args *args);

#endif
