/* SPDX-License-Identifier: MIT */
/* The part of a file that the posted reader of .eh_frame can walk, in words and as JSON. */
#ifndef GEN_REPORT_EH_FRAME_H
#define GEN_REPORT_EH_FRAME_H

#include <jansson.h>
#include <stdio.h>

#include "gen/report/model.h"

/* lint: one line for each broken rule, and a summary; ERR_MALFORMED when one is. */
ATTR_MUST_CHECK bool report_lint_eh_frame(
    const struct image *image, int verbosity, FILE *out, struct err *err);

/* Prints a line of the report, or returns its member; nothing and NULL for files that the reader
 * does not read. */
void report_eh_frame(const struct report *report, FILE *out);
json_t *report_eh_frame_json(const struct report *report);

#endif
