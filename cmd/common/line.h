/* SPDX-License-Identifier: MIT */
/* A command line from its verb on, in the form for getopt, with the errors that can be found in it. */
#ifndef CMD_COMMON_LINE_H
#define CMD_COMMON_LINE_H

#include <getopt.h>

#include "base/program/fail.h"
#include "cmd/common/options.h"

enum { ARGS_LETTERS_SIZE = 2 * N_OPTIONS + 2 };

struct args_line {
	const struct args_use
	    *use;   /* NULL: help is wanted, of no use in particular, or the version */
	bool named; /* the line has the verb */
	bool tree;
	bool help, version; /* it is all that is wanted */
	int argc;	    /* from the verb on, which stands for the program's name */
	char **argv;
	/* For getopt_long: the options that the use has. */
	struct option longs[N_OPTIONS + 1];
	char letters[ARGS_LETTERS_SIZE];
};

/* Finds the verb; false: EH2SFRAME_USAGE. */
bool args_line_open(
    struct args_line *line, int argc, char **argv, struct eh2sframe_error *error);

/* Returns the next option; NULL at the end of the options, and after a failure. Names of options are not shortened,
 * or a new option could change what a line means. */
const struct args_option *args_line_next(
    const struct args_line *line, bool *failed, struct eh2sframe_error *error);

/* Checks the number of paths, and that none of them was meant as a verb. */
bool args_line_paths(const struct args_line *line, char *const *paths, size_t n,
    struct eh2sframe_error *error);

#endif
