/* SPDX-License-Identifier: MIT */
/* --report-diff: what changed from one JSON report to another. */
#ifndef CMD_REPORT_DIFF_H
#define CMD_REPORT_DIFF_H

#include "cmd/report/history.h"

struct report_diff {
	const char *old_path, *now_path;
	/* The files that changed, by path. */
	struct report_diff_file {
		const struct report_state *old, *now; /* NULL: this report has none */
		json_t *changes;		      /* NULL where one is missing */
	} * list;
	size_t n, cap;
	size_t same;	      /* files */
	size_t worse, better; /* functions */
};

/* Writes the page. */
void report_diff_page(const struct report_diff *diff, FILE *out);

/* Returns the exit status. */
int report_diff(const struct args *args);

#endif
