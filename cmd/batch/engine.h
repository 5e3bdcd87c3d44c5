/* SPDX-License-Identifier: MIT */
/* What --batch needs from the library for one file. */
#ifndef CMD_BATCH_ENGINE_H
#define CMD_BATCH_ENGINE_H

#include <jansson.h>

#include "cmd/batch/batch.h"

/* A file that is open; path is for messages. */
struct batch_input {
	const struct eh2sframe_options *options;
	int fd;
	const char *path;
};

/* *skip is the word for why there is nothing to convert; NULL when there is something. */
struct eh2sframe_file *engine_open(
    const struct batch_input *input, const char **skip, struct eh2sframe_error *error);

/*
 * Converts it to the file out, which must not exist. *report is its object in the JSON
 * report; the caller owns it, even after a failure.
 */
CMD_CHECKED bool engine_convert(const struct eh2sframe_file *file, const char *out,
    json_t **report, struct eh2sframe_error *error);

#endif
