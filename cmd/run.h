/* SPDX-License-Identifier: MIT */
/* Runs the commands of the command line, each over all of its files. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "cmd/common/args.h"

/* Runs the command; returns the exit status. */
int run_command(const struct args *args);

/* True if a path is the file of one of the first n inputs, or of an input that an option
 * names. */
bool run_is_input(const struct args *args, size_t n, const char *path);

/* True if two names are the same file, or will be when they exist. */
bool run_same_place(const char *a, const char *b);

/* Refuses a path that would overwrite the program. Returns a status. */
int run_refuse_path(const char *path, const char *what);

struct run_output;

typedef bool run_each_fn(const struct args *args, const char *path,
    struct run_output *output, struct eh2sframe_error *error);

/* Runs one function for each file, and returns the status of all. Only what run_report does has
 * an output. */
int run_each(const struct args *args, struct run_output *output, run_each_fn *one);

/* Prints what --version says. */
void run_version(void);

/* Runs report, check, merge and diff. Returns the exit status. */
int run_report(const struct args *args);

/* Gives up the rights that the command does not need: all of --sandbox or nothing. False: error says why. */
bool run_sandbox(const struct args *args, struct eh2sframe_error *error);

#endif
