/* SPDX-License-Identifier: MIT */
/*
 * The results of the files, as objects of the JSON report, and their sums. A document
 * is {"tool", "version", "summary", "files"}, files in the order of their paths. The
 * summary follows from them, except for files without an entry (struct report_apart).
 * Files are kept as text: as objects they would be 10 times as large.
 */
#ifndef CMD_REPORT_REPORT_H
#define CMD_REPORT_REPORT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/percent.h"
#include "cmd/common/args.h"
#include "base/program/fail.h"
#include "base/program/print.h"
#include "cmd/report/checks.h"

/* The schema of the documents, docs/report.schema.json. */
enum { REPORT_SCHEMA = 1 };

/* Returns the object of a file that was read, which the caller owns; its status is 0. details: with
 * lists of the code without rows. NULL: EH2SFRAME_NO_MEMORY. */
json_t *report_of_result(
    struct eh2sframe_result *result, bool details, struct eh2sframe_error *error);

/* Returns the object of a check, which the caller owns; its status is 0. lists: with each place
 * that is not confirmed. NULL: EH2SFRAME_NO_MEMORY. */
json_t *report_of_check(
    const struct eh2sframe_check *check, bool lists, struct eh2sframe_error *error);

/* Writes and closes the report of one conversion: its result, or NULL and why the file at
 * path failed. */
ATTR_MUST_CHECK bool report_single(struct print_out *out, struct eh2sframe_result *result,
    const char *path, const struct eh2sframe_error *why, struct eh2sframe_error *error);

/* Adds path and other names (an array, or NULL) to the report of a file. Takes both. */
json_t *report_file_done(json_t *report, const char *path, json_t *others);
ATTR_MUST_CHECK bool report_file_add_link(json_t *others, const char *path);
json_t *report_file_skipped(const char *path, const char *reason);
json_t *report_file_failed(const char *path, const struct eh2sframe_error *why);
/* Adds the status and the reason to the report of a file that does not suffice. */
ATTR_MUST_CHECK bool report_file_judge(json_t *report, const struct eh2sframe_error *why);
/* Adds lines for people, which are never part of a document. */
ATTR_MUST_CHECK bool report_file_add_text(json_t *report, const char *text);
/* Returns a value as text, which the caller frees. NULL when value is, or memory runs out. */
char *report_value_dump(const json_t *value);

/* Finds the arrays of a file that have an entry for each gap, fault, function of a source and the like. Returns
 * how many there are. */
enum { REPORT_MAX_LISTS = 16 };
size_t report_file_lists(const json_t *file, json_t *lists[REPORT_MAX_LISTS]);

/* Counts that the objects of files do not show. */
struct report_apart {
	json_int_t not_elf, mount_points, excluded;
};

/* Bytes of code, as the member "code" has them. */
struct report_code {
	json_int_t with_cfi, covered, plt_template, derived, go_table, executable,
	    outermost;
};

/* Adds a member "code", or NULL. EH2SFRAME_INPUT. */
ATTR_MUST_CHECK bool report_code_add(
    struct report_code *sum, const json_t *code, struct eh2sframe_error *err);

struct report_document {
	struct report_entry {
		char *path;	 /* as in the text */
		char *text;	 /* the object */
		char *words;	 /* for people, beside it; NULL: none */
		size_t n_listed; /* entries of all report_file_lists */
		size_t seq;	 /* order of arrival, for equal paths */
	} * list;
	size_t n, cap;
	struct report_apart apart;
	struct report_sums {
		json_int_t done, failed, skipped;
		json_int_t converted; /* of those that are done */
		json_int_t already;   /* of those done: by an earlier run */
		json_int_t counted;   /* of those done: they have counts of code */
		json_int_t functions, with_rows, with_gaps;
		json_int_t eh_frame, eh_frame_hdr, sframe;
		struct report_code code;
		int status; /* the worst */
	} sums;
	json_t *skips;	 /* reason -> files */
	json_t *fails;	 /* status -> files */
	json_t *refused; /* reason -> {functions, bytes} */
	struct report_checks checks;
};

ATTR_MUST_CHECK bool report_document_init(
    struct report_document *report, struct eh2sframe_error *err);
void report_document_deinit(struct report_document *report);

/*
 * Adds up a file and, if it will be written, keeps it; then its text for people is taken out of
 * it. EH2SFRAME_INPUT with the reason when it is not an object of a report. NULL means that
 * memory ran out.
 */
ATTR_MUST_CHECK bool report_document_add(
    struct report_document *report, json_t *file, bool keep, struct eh2sframe_error *err);

/* Adds a count, which is not negative. Sums end at 63 bits: what damaged CFI of one file claims may not cost the report of
 * others. */
void report_sum(json_int_t *sum, json_int_t count);
/* Adds a count in an object to sum; one that is not there is 0. EH2SFRAME_INPUT. */
ATTR_MUST_CHECK bool report_add_count(
    const json_t *object, const char *name, json_int_t *sum, struct eh2sframe_error *err);

/* Sorts the files by path. */
void report_document_sort(struct report_document *report);

/* Writes the document, in JSON or as a page, to a file that is open, and closes it. Nothing but a page
 * changes report, whose files it makes shorter. */
ATTR_MUST_CHECK bool report_document_write(struct report_document *report,
    struct print_out *out, bool html, struct eh2sframe_error *err);

/* The parts of a document, as write.c writes them. put writes JSON, as fputs does; summary may be NULL. */
typedef int report_put_fn(const char *text, FILE *out);
void report_write_head(const char *summary, report_put_fn *put, FILE *out);
/* Writes what comes before the object of file i. */
void report_write_next(size_t i, FILE *out);
void report_write_tail(size_t n_files, FILE *out);
/* Writes all of a document. False: memory ran out. */
ATTR_MUST_CHECK bool report_write_all(
    const struct report_document *report, report_put_fn *put, FILE *out);

/* Lines of the page before and after the data, which base/page/embed.py makes from the files in page/. */
extern const char *const report_page_head[], *const report_page_tail[];
/* Writes the page. False: memory ran out. */
ATTR_MUST_CHECK bool report_html_page(struct report_document *report, FILE *out);

/*
 * The verb merge: returns the exit status of merging, and not the statuses of the
 * merged runs.
 */
int report_merge(const struct args *args);

/* The document of report or check, file by file: JSON, which is written at once, or a page. */
struct report_files {
	struct print_out *out; /* borrowed */
	bool html;
	size_t n_files;		     /* that were written; not with html */
	struct report_document page; /* with html */
};

/* Begins to write to out, which is open. The caller frees files, also after a failure. */
ATTR_MUST_CHECK bool report_files_begin(struct report_files *files, struct print_out *out,
    bool html, struct eh2sframe_error *error);
ATTR_MUST_CHECK bool report_files_add(struct report_files *files,
    struct eh2sframe_result *result, enum eh2sframe_status status,
    struct eh2sframe_error *error);
ATTR_MUST_CHECK bool report_files_add_check(struct report_files *files,
    const struct eh2sframe_check *check, enum eh2sframe_status status,
    struct eh2sframe_error *error);
ATTR_MUST_CHECK bool report_files_fail(struct report_files *files, const char *path,
    const struct eh2sframe_error *why, struct eh2sframe_error *error);
/* Writes the rest, closes out, and frees files. */
ATTR_MUST_CHECK bool report_files_end(
    struct report_files *files, struct eh2sframe_error *error);
void report_files_deinit(struct report_files *files);

/* Returns the share of code in per cent, outermost frames apart. */
const char *report_code_percent(
    const struct report_code *code, bool executable, char text[PERCENT_SIZE]);
/* Returns a new object with the same members, sorted by name. */
json_t *report_sort_members(json_t *object);

/* Prints one line for people. done is the word for what was done with a file; NULL:
 * converted, or only reported. */
void report_print_summary(
    const struct report_document *report, const char *done, FILE *out);

#endif
