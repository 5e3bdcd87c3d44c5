/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, for programs: one document {"tool", "version", "files": [...]}
 * whose members are described in eh2sframe(1), "JSON REPORT". Written with jansson.
 */
#ifndef GEN_REPORT_JSON_H
#define GEN_REPORT_JSON_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/report/text.h"

struct report_json {
	void *files; /* json_t array, owned; NULL when no JSON is wanted */
};

/* Begins an empty document. ERR_NOMEM. */
ATTR_MUST_CHECK bool report_json_begin(struct report_json *json, struct err *err);

/*
 * Adds a file that was read, with the exit status it leads to; gaps: also every stretch
 * left out, by name. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool report_json_add(struct report_json *json,
    const struct report *report, int status, bool gaps, struct err *err);

/* Adds a file that failed, with its status and message. ERR_NOMEM. */
ATTR_MUST_CHECK bool report_json_fail(struct report_json *json, const char *path,
    int status, const char *why, struct err *err);

/* Gives the document to write, piece by piece, which returns 0 to go on. ERR_IO when it
 * does not, ERR_NOMEM. */
ATTR_MUST_CHECK bool report_json_write(const struct report_json *json,
    int (*write)(const char *text, size_t size, void *context), void *context,
    struct err *err);

void report_json_deinit(struct report_json *json); /* accepts a zeroed struct */

#endif
