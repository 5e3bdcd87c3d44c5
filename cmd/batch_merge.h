/* SPDX-License-Identifier: MIT */
/* --report --merge: several JSON reports as one. */
#ifndef CMD_BATCH_MERGE_H
#define CMD_BATCH_MERGE_H

#include "cmd/batch.h"

/* Returns the exit status, which is that of merging and not of what was merged. */
int batch_merge(const struct args *args);

#endif
