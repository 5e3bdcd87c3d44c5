/* SPDX-License-Identifier: MIT */
/* The verb diff: compares two JSON reports. */
#ifndef CMD_REPORT_DIFF_H
#define CMD_REPORT_DIFF_H

#include "cmd/common/args.h"

/* Prints the differences; returns the exit status. */
int report_diff(const struct args *args);

#endif
