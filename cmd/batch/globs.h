/* SPDX-License-Identifier: MIT */
/*
 * Selects files of a tree by --include and --exclude. A glob without a slash is compared
 * with a file's name, another one with its path below the named directory.
 */
#ifndef CMD_BATCH_GLOBS_H
#define CMD_BATCH_GLOBS_H

#include "cmd/common/args.h"

/* True if the globs select the file. path is its path below the named directory. */
bool batch_globs_take(const struct args *args, const char *path);

/* True if the globs may select files below a directory; false when an --exclude has them all. */
bool batch_globs_enter(const struct args *args, const char *path);

#endif
