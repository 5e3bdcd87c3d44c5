/* SPDX-License-Identifier: MIT */
/* The command line of eh2sframe-record. */
#ifndef PROFILE_RECORD_ARGS_H
#define PROFILE_RECORD_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/fold/command.h"

/* Exit statuses, of which a recorded command's own are the others. */
enum {
	RECORD_DENIED = 124,
	RECORD_FAILED = 125,
	RECORD_CANNOT_RUN = 126,
	RECORD_NOT_FOUND = 127
};

enum { RECORD_MAX_PIDS = 64 };

struct record_args {
	const char *output,
	    *name; /* the file of the recording, and what the user named */
	/* The name is of a format of eh2sframe-fold, and the recording a file without a name. */
	bool is_picture;
	enum fold_format format;
	char recording[32];
	uint32_t frequency, stack_size;
	double duration; /* s; 0: no limit */
	pid_t pids[RECORD_MAX_PIDS];
	size_t n_pids;
	char *words[RECORD_MAX_PIDS + 2]; /* without a command: "-p", "17", NULL */
	bool all, cycles, quiet, help, version;
	int user, raw, no_guess; /* as getopt sets them */
	char **command;		 /* ends with NULL; or NULL */
};

/* ERR_USAGE. */
ATTR_MUST_CHECK bool record_args_read(
    int argc, char **argv, struct record_args *args, struct err *err);
/* The text of --help, without its last end of a line. */
extern const char record_args_help[];

#endif
