/* SPDX-License-Identifier: MIT */
/* The members of an archive, each as if it were a file. */
#ifndef CMD_BATCH_ARCHIVE_H
#define CMD_BATCH_ARCHIVE_H

#include "cmd/archive/archive.h"
#include "cmd/batch/file.h"

/*
 * Does what the verb says with each member, and puts a new archive in the place of out. Returns an object with a list,
 * "members", that has what would be the object of a file for each, and null where one is not ELF; the caller owns it. A
 * member that fails stays as it is, and its object says why. NULL: nothing is written, and error says why.
 */
json_t *batch_archive_work(const struct batch_job *job, struct archive *archive,
    const char *out, struct eh2sframe_error *error);

#endif
