/* SPDX-License-Identifier: MIT */
/* The part of base/newfile.c that copies attributes, apart because of its size. */
#ifndef BASE_NEWFILE_INTERNAL_H
#define BASE_NEWFILE_INTERNAL_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

/*
 * Gives the file fd the owner, mode and extended attributes of like_fd; -1 leaves those
 * of its creation. ERR_IO when an attribute that decides about access or privileges
 * cannot be kept.
 */
ATTR_MUST_CHECK bool newfile_copy_attrs(int fd, int like_fd, struct err *err);

/* True if both files have the same ACL, or none. */
bool newfile_same_acl(int a, int b);

#endif
