/* SPDX-License-Identifier: MIT */
/* Sums over what checks found in several files. */
#ifndef CMD_REPORT_CHECKS_H
#define CMD_REPORT_CHECKS_H

#include <jansson.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/program/fail.h"

struct report_checks {
	json_int_t files; /* that were checked */
	json_int_t fdes, confirmed, review, unknown, contradicts, not_looked_at;
	json_int_t instructions, agreeing, seeded;
	json_t *groups; /* name -> {files, functions, instructions}; owned */
};

/* Begins with no file; EH2SFRAME_NO_MEMORY. Freed with report_checks_deinit, which
 * accepts a zeroed struct. */
ATTR_MUST_CHECK bool report_checks_init(
    struct report_checks *checks, struct eh2sframe_error *err);
void report_checks_deinit(struct report_checks *checks);

/* Adds the member "check" of a file's object; NULL: the file was not checked. EH2SFRAME_INPUT
 * when it is of another form. */
ATTR_MUST_CHECK bool report_checks_add(
    struct report_checks *checks, const json_t *check, struct eh2sframe_error *err);

/* Returns the member "check" of a summary, which the caller owns. NULL: memory ran out. */
json_t *report_checks_object(const struct report_checks *checks);

/* Prints a line for each kind and column of faults, and one of totals. */
void report_checks_print(const struct report_checks *checks, FILE *out);

#endif
