/* SPDX-License-Identifier: MIT */
/* A format of eh2sframe-fold as the output: the recording is a file without a name. */
#ifndef PROFILE_RECORD_PICTURE_H
#define PROFILE_RECORD_PICTURE_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/fold/command.h"
#include "profile/record/args.h"

struct picture {
	enum fold_format format;
	const char *path; /* NULL: the output is a recording */
	char recording[32];
};

/* Where the output's name ends as one of fold_formats, makes the recording and names it in args. Finds what stands
 * against the output before the command runs. ERR_IO, ERR_NOMEM. */
ATTR_MUST_CHECK bool picture_begin(
    struct picture *picture, struct record_args *args, struct err *err);
/* Makes it of the recording, and prints the summary or what goes wrong. */
ATTR_MUST_CHECK bool picture_write(const struct picture *picture, bool quiet);

#endif
