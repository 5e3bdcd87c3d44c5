/* SPDX-License-Identifier: MIT */
/* One row for each file of a run: a few numbers, so that thousands of files take little
 * memory. */
#ifndef CMD_REPORT_FILE_TABLE_H
#define CMD_REPORT_FILE_TABLE_H

#include "cmd/report/report.h"

struct report_table {
	struct report_row {
		char *path;
		char *why; /* of a failure; else NULL */
		int status;
		bool counted; /* it has the rest */
		struct report_code code;
		json_int_t gaps, sframe; /* functions; bytes */
	} * list;
	size_t n, cap;
};

void report_table_deinit(struct report_table *table);

/* Adds a file: its result, or NULL; and why it failed, or NULL. EH2SFRAME_NO_MEMORY. */
ATTR_MUST_CHECK bool report_table_add(struct report_table *table, const char *path,
    const struct eh2sframe_result *result, const struct eh2sframe_error *why,
    struct eh2sframe_error *error);
/* The same from an object of a report. One that was passed over is left out. */
ATTR_MUST_CHECK bool report_table_add_file(
    struct report_table *table, const json_t *file, struct eh2sframe_error *error);

/* The worst first: those with the most bytes of code without rows. Files that have no
 * counts come last. */
void report_table_sort(struct report_table *table);
/* The sums of those that have counts; path is NULL. Returns how many they are. */
size_t report_table_total(const struct report_table *table, struct report_row *total);

/* One line for each of the first files, 0: all, and the totals. Sorts the table. */
void report_table_print(struct report_table *table, size_t top, FILE *out);

#endif
