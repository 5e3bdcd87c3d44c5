/* SPDX-License-Identifier: MIT */
/* Reads a JSON report file by file. */
#ifndef CMD_REPORT_READING_H
#define CMD_REPORT_READING_H

#include <jansson.h>

#include "base/program/fail.h"

/* Functions that get the parts of a report, which stay the reader's. One that returns false ends the
 * reading. */
struct report_reading {
	bool (*file)(void *context, json_t *file, struct eh2sframe_error *err);
	/* The member "summary"; NULL: it is not wanted. */
	bool (*summary)(void *context, json_t *summary, struct eh2sframe_error *err);
	void *context;
};

/* Reads a report from a file or a pipe. It fails with EH2SFRAME_INPUT where the bytes are not a report, else with EH2SFRAME_IO. */
ATTR_MUST_CHECK bool report_read(
    const char *path, const struct report_reading *to, struct eh2sframe_error *err);

#endif
