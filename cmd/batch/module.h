/* SPDX-License-Identifier: MIT */
/*
 * Relocatable objects in a tree. Kernel modules are finished files, so they are
 * converted; objects on their way to a link are left alone. The names of their sections
 * tell them apart, before the file is opened to be converted.
 */
#ifndef CMD_BATCH_MODULE_H
#define CMD_BATCH_MODULE_H

#include <sys/stat.h>

#include "cmd/common/args.h"

/* Returns why the relocatable object in fd is skipped, as a word of the report; or NULL. */
const char *batch_module_skip(const struct args *args, int fd, const struct stat *st);

/* True if the name is that of a kernel module that was compressed. */
bool batch_module_is_packed(const char *base);

#endif
