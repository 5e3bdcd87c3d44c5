/* SPDX-License-Identifier: MIT */
/* Recordings of any kind: where they have copies of stacks, these are walked here. */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"

/*
 * Reads a perf.data into an initialised profile. Copies of stacks are walked by the files that are there now with the same
 * build-id. guess: follow frame pointers where there are no rows. The errors of perfdata_open, and ERR_LIMIT.
 */
ATTR_MUST_CHECK bool profile_load(
    struct profile *profile, int fd, bool guess, struct err *err);

#endif
