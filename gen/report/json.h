/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, for programs: one document {"tool", "version", "schema", "files":
 * [...]}, whose schema is docs/report.schema.json. It is written file by file, and in a
 * file entry by entry, so that it takes no memory. The values are jansson's.
 */
#ifndef GEN_REPORT_JSON_H
#define GEN_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/report/check_code.h"
#include "gen/report/model.h"

/* The number of the schema. Within a number members are only added. */
enum { REPORT_SCHEMA = 1 };

struct report_json {
	/* Takes the text piece by piece, and returns 0 to go on. */
	int (*write)(const char *text, size_t size, void *context);
	void *context;
	size_t n_files;
	bool failed; /* write did not go on */
};

/* Writes the beginning of a document. ERR_IO when write does not go on, ERR_NOMEM, as for
 * all functions here. */
ATTR_MUST_CHECK bool report_json_begin(struct report_json *json, struct err *err);

/* Writes a file that was read, with the exit status it leads to. */
ATTR_MUST_CHECK bool report_json_add(
    struct report_json *json, const struct report *report, int status, struct err *err);

/* Writes a file whose CFI was checked against its code; lists: also each place that is not
 * confirmed. */
ATTR_MUST_CHECK bool report_json_check(struct report_json *json,
    const struct report_check *check, int status, bool lists, struct err *err);

/* Writes a file that failed, with its status and message. */
ATTR_MUST_CHECK bool report_json_fail(struct report_json *json, const char *path,
    int status, const char *why, struct err *err);

/* Writes the end of the document. */
ATTR_MUST_CHECK bool report_json_end(struct report_json *json, struct err *err);

#endif
