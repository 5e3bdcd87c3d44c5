/* SPDX-License-Identifier: MIT */
/*
 * --batch: converts in place every ELF file under the named paths. A tree is listed once
 * (cmd/batch/tree.h), its files are converted by processes of their own
 * (cmd/batch/pool.h), so that a file which brings one down costs that file alone, and
 * what became of each goes into one report (cmd/report/report.h).
 */
#ifndef CMD_BATCH_BATCH_H
#define CMD_BATCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/args.h"
#include "cmd/common/fail.h"

/* The command. Returns its exit status, or does not when a signal ended it. */
int batch_run(const struct args *args);

#endif
