/* SPDX-License-Identifier: MIT */
/* Runs the commands of the command line, each over all of its files. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "cmd/common/args.h"

/* Runs the command; returns the exit status. */
int run_command(const struct args *args);

#endif
