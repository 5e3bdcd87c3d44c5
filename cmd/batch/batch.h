/* SPDX-License-Identifier: MIT */
/*
 * tree: converts in place every ELF file under the named paths, or gives back the
 * originals, or looks at the sections. It lists a tree once (cmd/batch/tree.h). Separate
 * processes work on the files (cmd/batch/pool.h), so a file that crashes a process costs
 * only itself. The results go into one report (cmd/report/report.h).
 */
#ifndef CMD_BATCH_BATCH_H
#define CMD_BATCH_BATCH_H

#include <signal.h>

#include "cmd/archive/archive.h"
#include "cmd/common/args.h"
#include "base/program/fail.h"

/* The signal that asks to stop; 0: none yet. The command notices it between 2 steps. */
extern volatile sig_atomic_t batch_signal;

/* Runs the command for a tree or, where it is not NULL, for an archive: the members are its files, and the
 * second path is the new archive. Returns its exit status, or does not return when a signal ends it. */
int batch_run(const struct args *args, struct archive *archive);

#endif
