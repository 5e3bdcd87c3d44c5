/* SPDX-License-Identifier: MIT */
/* eh2sframe-fold: a recording in another format. */
#ifndef PROFILE_FOLD_COMMAND_H
#define PROFILE_FOLD_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "include/eh2sframe.h"
#include "profile/symbols/naming.h"

#define FOLD_DEBUG_DIR "/usr/lib/debug"

enum fold_format { FOLD_FOLDED, FOLD_HTML, FOLD_FIREFOX, FOLD_N_FORMATS };

struct fold_args {
	enum fold_format format;
	const char *recording;
	const char *title;  /* of the recording in messages; NULL: its own name */
	const char *output; /* NULL: standard output */
	struct naming_options naming;
	bool no_guess; /* follow no frame pointers where there are no rows */
	bool quiet;
};

/* The name of each format on the command line, and how names of such files end. */
extern const char *const fold_formats[FOLD_N_FORMATS][2];
/* Finds it by the end of a file's name. */
ATTR_MUST_CHECK bool fold_format_of(const char *path, enum fold_format *format);

/* Does it all, and prints what goes wrong. Returns the exit status. */
int fold_run(const struct fold_args *args);

/* Refuses an output that is a link. file: what was opened, and not emptied yet; it can have been a link then. */
ATTR_MUST_CHECK bool fold_is_no_link(
    const char *path, FILE *file, struct eh2sframe_error *error);

#endif
