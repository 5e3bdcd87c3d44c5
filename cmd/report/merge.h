/* SPDX-License-Identifier: MIT */
/* --report --merge: several JSON reports as one; and --report=html. */
#ifndef CMD_REPORT_MERGE_H
#define CMD_REPORT_MERGE_H

#include "cmd/common/args.h"
#include "cmd/common/fail.h"

/* Returns the exit status of merging, not that of the merged runs. */
int batch_merge(const struct args *args);

/* A report of single files, in their order, as a page; path "-" is standard output. */
ATTR_MUST_CHECK bool batch_report_html(
    const struct eh2sframe_report *report, const char *path, struct eh2sframe_error *err);

#endif
