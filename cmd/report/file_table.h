/* SPDX-License-Identifier: MIT */
/* One row for each file of a run: a few numbers, so that thousands of files take little
 * memory. */
#ifndef CMD_REPORT_FILE_TABLE_H
#define CMD_REPORT_FILE_TABLE_H

#include "cmd/report/report.h"

struct report_table {
	struct report_row {
		char *path;
		int status;
		bool counted; /* it has the rest */
		struct report_code code;
		json_int_t gaps, sframe; /* functions; bytes */
	} * list;
	size_t n, cap;
};

void report_table_deinit(struct report_table *table);

/* Adds a file: its object, or NULL, and the status that it leads to. EH2SFRAME_INPUT, EH2SFRAME_NO_MEMORY. */
ATTR_MUST_CHECK bool report_table_add(struct report_table *table, const char *path,
    int status, const json_t *file, struct eh2sframe_error *error);

/* Prints one line for each file, those with the most bytes of code without rows first; and the totals. Sorts the table. */
void report_table_print(struct report_table *table, FILE *out);

#endif
