/* SPDX-License-Identifier: MIT */
/*
 * Findings about a file as a JSON object, for programs: a member of "files" in the documents that the command
 * makes, whose schema is docs/report.schema.json. It is written entry by entry, so that it takes no memory. The
 * values are jansson's.
 */
#ifndef GEN_REPORT_JSON_H
#define GEN_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/report/check_code.h"
#include "gen/report/model.h"

struct report_json {
	/* Takes the text piece by piece, and returns 0 to go on. */
	int (*write)(const char *text, size_t size, void *context);
	void *context;
	bool failed; /* write did not go on */
};

/* Writes a file that was read, with the exit status it leads to. ERR_IO when write does not go on,
 * ERR_NOMEM. */
ATTR_MUST_CHECK bool report_json_result(
    struct report_json *json, const struct report *report, int status, struct err *err);

/* Writes a file whose CFI was checked against its code; lists: also each place that is
 * not confirmed. Fails as report_json_result. */
ATTR_MUST_CHECK bool report_json_check(struct report_json *json,
    const struct report_check *check, int status, bool lists, struct err *err);

#endif
