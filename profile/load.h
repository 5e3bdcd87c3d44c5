/* SPDX-License-Identifier: MIT */
/* Recordings of any kind: stacks that the recorder did not walk (--raw) are walked here. */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"

struct profile_load_options {
	bool guess; /* follow frame pointers where there are no rows */
};

/*
 * Reads a recording into an initialised profile, as profile_read does. With info.raw it also
 * walks the stacks, by the files that are there now with the same build-id. options may be
 * NULL.
 */
ATTR_MUST_CHECK bool profile_load(struct profile *profile, int fd, const char *name,
    const struct profile_load_options *options, struct err *err);

#endif
