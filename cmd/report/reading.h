/* SPDX-License-Identifier: MIT */
/* Reads a JSON report file by file. */
#ifndef CMD_REPORT_READING_H
#define CMD_REPORT_READING_H

#include <jansson.h>

#include "cmd/common/fail.h"

/* Gets a file of the report, which stays the reader's. */
typedef bool report_read_fn(void *context, json_t *file, struct eh2sframe_error *err);

/* Calls a function for each file, until it returns false. EH2SFRAME_INPUT for what is no
 * report, and EH2SFRAME_IO. */
ATTR_MUST_CHECK bool report_read_files(
    const char *path, report_read_fn *file, void *context, struct eh2sframe_error *err);

/* Says what to do about a report that cannot be read, where the error does not yet. Always false. */
bool report_blame(struct eh2sframe_error *err);

/* Whether this version knows a report's member "schema", or there is none: what a later schema
 * changes may be what this version would read. */
ATTR_MUST_CHECK bool report_read_schema(const json_t *value, struct eh2sframe_error *err);

#endif
