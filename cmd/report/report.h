/* SPDX-License-Identifier: MIT */
/*
 * The results of the files, as objects of the JSON report, and their sums. A document
 * is {"tool", "version", "summary", "files"}, files in the order of their paths. The
 * summary follows from them, except for files without an entry (struct batch_apart).
 * Files are kept as text: as objects they would be 10 times as large.
 */
#ifndef CMD_REPORT_REPORT_H
#define CMD_REPORT_REPORT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/common/fail.h"

/* A report as a document, which the caller owns. NULL: EH2SFRAME_NO_MEMORY or
 * EH2SFRAME_IO. */
json_t *batch_report_document(
    const struct eh2sframe_report *report, struct eh2sframe_error *error);

/* Adds path and other names (an array, or NULL) to the report of a file. Takes both. */
json_t *batch_report_done(json_t *report, const char *path, json_t *others);
ATTR_MUST_CHECK bool batch_report_add_link(json_t *others, const char *path);
json_t *batch_report_skip(const char *path, const char *reason);
json_t *batch_report_fail(const char *path, const struct eh2sframe_error *why);

/* Counts that the objects of files do not show. */
struct batch_apart {
	json_int_t not_elf, mount_points;
};

struct batch_report {
	struct batch_entry {
		char *path; /* as in the text */
		char *text; /* the object */
		size_t seq; /* order of arrival, for equal paths */
	} * list;
	size_t n, cap;
	struct batch_apart apart;
	struct batch_sums {
		json_int_t done, failed, skipped;
		json_int_t functions, with_rows, with_gaps;
		json_int_t eh_frame, eh_frame_hdr, sframe;
		json_int_t with_cfi, covered, plt_template;
		int status; /* the worst */
	} sums;
	json_t *skips;	 /* reason -> files */
	json_t *fails;	 /* status -> files */
	json_t *refused; /* reason -> {functions, bytes} */
};

ATTR_MUST_CHECK bool batch_report_init(
    struct batch_report *report, struct eh2sframe_error *err);
void batch_report_deinit(struct batch_report *report);

/*
 * Adds up a file and, if it will be written, keeps it. EH2SFRAME_INPUT with the reason
 * when it is not an object of a report.
 */
ATTR_MUST_CHECK bool batch_report_add(
    struct batch_report *report, json_t *file, bool keep, struct eh2sframe_error *err);

/* Adds a count in an object to sum; one that is not there is 0. EH2SFRAME_INPUT. */
ATTR_MUST_CHECK bool batch_report_count(
    const json_t *object, const char *name, json_int_t *sum, struct eh2sframe_error *err);

/* Sorts the files by path. */
void batch_report_sort(struct batch_report *report);

/* Writes the output of body to path (see print_open). When body fails, memory ran out. */
ATTR_MUST_CHECK bool batch_report_save(const struct batch_report *report,
    const char *path, bool (*body)(const struct batch_report *, FILE *),
    struct eh2sframe_error *err);

/* The document. */
ATTR_MUST_CHECK bool batch_report_write(
    const struct batch_report *report, const char *path, struct eh2sframe_error *err);

/* For people: 100 only when nothing is missing. */
double batch_report_percent(json_int_t covered, json_int_t with_cfi);
/* The same members, sorted by name. */
json_t *batch_report_sorted(json_t *object);

/* One line for people. */
void batch_report_summary(const struct batch_report *report, FILE *out);
/* The same of one file that was converted or skipped. */
void batch_report_line(json_t *file, const char *path, FILE *out);

#endif
