/* SPDX-License-Identifier: MIT */
/* Lines about sources that a file has and that cannot be used, and about what libdwarf was not
 * compared with. */
#ifndef CMD_BATCH_UNUSED_SOURCES_H
#define CMD_BATCH_UNUSED_SOURCES_H

#include <jansson.h>

#include "cmd/batch/bar.h"

/*
 * Prints a line on standard error for each source of rows that the report of a file says was left
 * out, and for code that the proof by libdwarf does not cover, as a conversion of this file alone
 * does. Takes the bar away first. A file that an earlier run converted has no lines.
 */
void batch_unused_sources_print(
    const json_t *report, const char *path, struct batch_bar *bar);

#endif
