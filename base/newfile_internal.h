/* SPDX-License-Identifier: MIT */
/* Shared by the files of base/newfile.h alone. */
#ifndef BASE_NEWFILE_INTERNAL_H
#define BASE_NEWFILE_INTERNAL_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/newfile.h"

/* Returns the last part of a path. */
const char *newfile_base(const char *path);

/* Tells the watch that the temporary file exists, or is gone. */
void newfile_notify(const struct newfile *output, bool exists);

/*
 * Gives the temporary file, which is closed before, the name of the target, or all names of the
 * input. ERR_IO when one of them is not the input any more as it was opened.
 */
ATTR_MUST_CHECK bool newfile_replace(struct newfile *output, struct err *err);

/* Removes the temporary names besides the first that are left. */
void newfile_remove_links(const struct newfile *output);

/*
 * Gives the file fd the owner, mode and extended attributes of like_fd; -1 leaves those
 * of its creation. ERR_IO when an attribute that decides about access or privileges
 * cannot be kept.
 */
ATTR_MUST_CHECK bool newfile_copy_attrs(int fd, int like_fd, struct err *err);

/* True if both files have the same ACL, or none. */
bool newfile_same_acl(int a, int b);

#endif
