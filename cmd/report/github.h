/* SPDX-License-Identifier: MIT */
/* --summary=github: what GitHub Actions shows of a run. */
#ifndef CMD_REPORT_GITHUB_H
#define CMD_REPORT_GITHUB_H

#include "cmd/report/gate.h"
#include "cmd/report/file_table.h"

/* An annotation for each file that failed. The table is sorted. */
void report_github_annotations(
    const struct report_table *table, const struct report_gate *gate, FILE *out);

/* A table in markdown, with at most top files; 0: as many as a page takes. */
void report_github_page(const struct report_table *table, const struct report_gate *gate,
    size_t top, FILE *out);

#endif
