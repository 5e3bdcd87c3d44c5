/* SPDX-License-Identifier: MIT */
/* --baseline: a file fails when functions of it are worse off than in an old report. */
#ifndef CMD_REPORT_GATE_H
#define CMD_REPORT_GATE_H

#include "cmd/report/history.h"
#include "cmd/report/report.h"

struct report_gate {
	const char *path; /* of the old report; NULL: there is none, and all pass */
	bool alone;	  /* this run is about one file */
	struct report_history old;
	/* Files that were judged; by path at the end. */
	struct report_gate_file {
		char *path;
		json_t *changes;
	} * list;
	size_t n, cap;
	size_t compared, missing; /* files; the old report does not have the second */
};

/* Reads the old report, before the work. Freed with report_gate_deinit, also after a failure. */
ATTR_MUST_CHECK bool report_gate_open(
    struct report_gate *gate, const struct args *args, struct eh2sframe_error *error);
void report_gate_deinit(struct report_gate *gate);

/* Compares the object of a file, and adds a member "changes" to it where the old report has
 * the file. EH2SFRAME_COVERAGE when functions are worse off. */
ATTR_MUST_CHECK bool report_gate_judge(
    const struct report_gate *gate, json_t *file, struct eh2sframe_error *error);
/* Judges a file without CFI. EH2SFRAME_COVERAGE when the old report counts its code: all of it is worse off. */
ATTR_MUST_CHECK bool report_gate_judge_bare(
    const struct report_gate *gate, const char *path, struct eh2sframe_error *error);
/* Takes the member "changes" out of an object, and keeps it. */
ATTR_MUST_CHECK bool report_gate_note(
    struct report_gate *gate, json_t *file, struct eh2sframe_error *error);
/* Does both with a result. EH2SFRAME_COVERAGE when it is worse. */
ATTR_MUST_CHECK bool report_gate_judge_result(struct report_gate *gate,
    struct eh2sframe_result *result, struct eh2sframe_error *error);
/* Does both with a check. Without an old report every fault counts: EH2SFRAME_PROOF. */
ATTR_MUST_CHECK bool report_gate_judge_check(struct report_gate *gate,
    const struct eh2sframe_check *check, struct eh2sframe_error *error);

/* Prints on standard error what was found; quiet: only what is worse. Returns a status:
 * EH2SFRAME_USAGE when no file could be compared. */
int report_gate_print(struct report_gate *gate, bool quiet);

#endif
