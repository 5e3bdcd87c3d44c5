/* SPDX-License-Identifier: MIT */
/* The command's exit status for a kind of error. */
#ifndef LIB_STATUS_H
#define LIB_STATUS_H

#include "base/err.h"
#include "include/eh2sframe.h"

enum eh2sframe_status status_of(enum err_kind kind);

#endif
