/* SPDX-License-Identifier: MIT */
/* Finds files by their build-id: separate debug information, and perf's copies of what it recorded. */
#ifndef PROFILE_SYMBOLS_NAMING_DEBUG_H
#define PROFILE_SYMBOLS_NAMING_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

enum { NAMING_DEBUG_PATH = 4096 }; /* bytes of a path, with its zero */

/*
 * Gives the place i of debug information for a build-id of n bytes: DIR/.build-id/ab/cdef.debug in each of the n_dirs folders, then
 * perf's. false: there are no more.
 */
ATTR_MUST_CHECK bool naming_debug_path(const char *const *dirs, size_t n_dirs, size_t i,
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH]);

/* Gives the place of perf's copy of the file itself. false: it has no build-id. */
ATTR_MUST_CHECK bool naming_copy_path(
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH]);

#endif
