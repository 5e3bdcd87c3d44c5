/* SPDX-License-Identifier: MIT */
/* What the commands share that look at one file after the other. */
#ifndef CMD_RUN_INTERNAL_H
#define CMD_RUN_INTERNAL_H

#include "cmd/common/args.h"

/* Whether two paths are the same file. A missing file is not the same as any other: opening
 * it reports that. */
bool run_same_file(const char *a, const char *b);

/* Refuses a path that would overwrite the program. Returns a status. */
int run_refuse_path(const char *path, const char *what);

struct run_output;

typedef bool run_each_fn(const struct args *args, const char *path,
    struct run_output *output, struct eh2sframe_error *error);

/* Runs one function for each file, and returns the status of all. Only what run_report does has
 * an output. */
int run_each(const struct args *args, struct run_output *output, run_each_fn *one);

/* --report and --check-code. */
int run_report(const struct args *args);

#endif
