/* SPDX-License-Identifier: MIT */
/* What a run tells besides its results: the comparison with an old report (--baseline), and
 * a summary for a service (--summary). */
#ifndef CMD_REPORT_NEWS_H
#define CMD_REPORT_NEWS_H

#include "cmd/report/gate.h"
#include "cmd/report/file_table.h"

struct report_news {
	struct report_gate gate;
	struct report_table table; /* with --summary, and where the caller wants it */
	bool keeps;		   /* rows in the table */
	bool github;		   /* --summary=github */
	char token[17];		   /* ends what GitHub does not read; "": it reads */
	FILE *page;		   /* NULL: standard output */
	const char *page_path;
};

/* The file that gets the summary's table; NULL: none. */
const char *report_news_page(const struct args *args);

/* Opens what the options name, before the work; *at is what a failure is about. Freed with
 * report_news_deinit, also after a failure. */
ATTR_MUST_CHECK bool report_news_open(struct report_news *news, const struct args *args,
    const char **at, struct eh2sframe_error *error);
void report_news_deinit(struct report_news *news);

/* Compares a result with the old report. EH2SFRAME_COVERAGE when it is worse. */
ATTR_MUST_CHECK bool report_news_judge(struct report_news *news,
    struct eh2sframe_result *result, struct eh2sframe_error *error);
/* The same of a check. Without an old report every fault counts: EH2SFRAME_PROOF. */
ATTR_MUST_CHECK bool report_news_judge_check(struct report_news *news,
    const struct eh2sframe_check *check, struct eh2sframe_error *error);
/* Adds a file: its result, or NULL; and why it failed, or NULL. */
ATTR_MUST_CHECK bool report_news_add(struct report_news *news, const char *path,
    const struct eh2sframe_result *result, const struct eh2sframe_error *why,
    struct eh2sframe_error *error);
/* The same of an object from a worker, which has been compared there. */
ATTR_MUST_CHECK bool report_news_add_file(
    struct report_news *news, json_t *file, struct eh2sframe_error *error);

/* Prints all of it. done says what the run did to files; NULL: nothing. Takes the status so
 * far, and returns the status with this. */
int report_news_print(
    struct report_news *news, const struct args *args, const char *done, int status);

#endif
