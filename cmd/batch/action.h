/* SPDX-License-Identifier: MIT */
/* Calls of the library for one file of a tree, by the command that args name. */
#ifndef CMD_BATCH_ACTION_H
#define CMD_BATCH_ACTION_H

#include <jansson.h>

#include "base/attr.h"
#include "cmd/batch/file.h"

/* Returns the word of the report for why there is nothing to do; NULL when there is something. */
const char *batch_action_skip(const struct args *args, const struct eh2sframe_file *file);
/* Returns the word for a file on which the work came to nothing. */
const char *batch_action_nothing(
    const struct args *args, const struct eh2sframe_file *file);

/* Makes the object of a file in the JSON report, of a result or, without one, of a file that is
 * restored. The caller owns it, even after a failure. */
ATTR_MUST_CHECK bool batch_action_ready(const struct batch_job *job,
    struct eh2sframe_result *result, json_t **report, struct eh2sframe_error *error);

/*
 * Converts the file in its place, or writes the original there; out is its first name. *report is
 * the verdict of the comparison with an old report, and the rest comes from batch_action_ready.
 */
ATTR_MUST_CHECK bool batch_action_write(const struct batch_job *job,
    const struct eh2sframe_file *file, const char *out, json_t **report,
    struct eh2sframe_error *error);

/*
 * Converts a file that has a section again, in memory; its options say to replace the
 * section. *report is its object when fd has these bytes, else NULL.
 */
ATTR_MUST_CHECK bool batch_action_again(const struct batch_job *job,
    const struct eh2sframe_file *file, int fd, json_t **report,
    struct eh2sframe_error *error);

/* Converts a file in memory, or gives back its original there, for eh2sframe_free. *report is its object. */
ATTR_MUST_CHECK bool batch_action_make(const struct batch_job *job,
    const struct eh2sframe_file *file, void **bytes, size_t *size, json_t **report,
    struct eh2sframe_error *error);

/* True if fd has the bytes that batch_action_make would make. False: EH2SFRAME_NO_MEMORY, or another program made
 * them. */
bool batch_action_is_made(
    const struct eh2sframe_file *file, int fd, struct eh2sframe_error *error);

/* Reports on, verifies, lints or checks the file. *report also has what is to be printed, and of a report
 * that is judged the status and the reason. */
ATTR_MUST_CHECK bool batch_action_look(const struct batch_job *job,
    const struct eh2sframe_file *file, json_t **report, struct eh2sframe_error *error);

#endif
