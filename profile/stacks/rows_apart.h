/* SPDX-License-Identifier: MIT */
/*
 * Files that anybody can write are converted in a process of their own, in the sandbox, with limits of memory and time. What it
 * answers is checked as the bytes of a stranger are.
 */
#ifndef PROFILE_STACKS_ROWS_APART_H
#define PROFILE_STACKS_ROWS_APART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/sandbox/apart.h"
#include "profile/stacks/file_rows.h"

/* Makes the rows of an open file, and with names its functions' names, in rows. ERR_LIMIT: it took too much; ERR_UNSUPPORTED,
 * ERR_IO, ERR_NOMEM. */
ATTR_MUST_CHECK bool rows_make_apart(int fd, const char *path, bool names,
    const struct apart_limits *limits, struct rows *rows, struct err *err);

#endif
