/* SPDX-License-Identifier: MIT */
/* Recordings of any kind: where they have copies of stacks, these are walked here. */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"

struct profile_load_options {
	bool no_guess; /* follow no frame pointers where there are no rows */
};

/*
 * Reads a perf.data into an initialised profile. Copies of stacks are walked by the files that are there now with the same
 * build-id. name: for what err says, or NULL. options may be NULL. The errors of perfdata_open, and ERR_LIMIT.
 */
ATTR_MUST_CHECK bool profile_load(struct profile *profile, int fd, const char *name,
    const struct profile_load_options *options, struct err *err);

#endif
