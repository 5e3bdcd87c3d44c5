/* SPDX-License-Identifier: MIT */
/*
 * Which files of a tree are meant: --include and --exclude. A glob without a slash is
 * compared with a file's name, another one with its path below the named directory.
 */
#ifndef CMD_BATCH_GLOBS_H
#define CMD_BATCH_GLOBS_H

#include "cmd/common/args.h"

/* True if a file is meant. path is its path below the named directory. */
bool batch_globs_take(const struct args *args, const char *path);

/* True if files below a directory can be meant; false when an --exclude has them all. */
bool batch_globs_enter(const struct args *args, const char *path);

#endif
