/* SPDX-License-Identifier: MIT */
/* The commands that convert nothing. */
#ifndef GEN_COMMANDS_H
#define GEN_COMMANDS_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/options.h"

/* --dump: the section as text. ERR_NOTHING without one. */
ATTR_MUST_CHECK bool command_dump(
	const struct options *options, const char *path, FILE *out, struct err *err);

/* --verify: differences on out, one per line, then a summary; ERR_PROOF when there are
 * any. */
ATTR_MUST_CHECK bool command_verify(
	const struct options *options, const char *path, FILE *out, struct err *err);

/* --lint: broken rules on out, one per line, then a summary; ERR_MALFORMED when there are
 * any. */
ATTR_MUST_CHECK bool command_lint(
	const struct options *options, const char *path, FILE *out, struct err *err);

/* --remove: the file without what this tool put in. */
ATTR_MUST_CHECK bool command_remove(
	const struct options *options, const char *in, const char *out, struct err *err);

#endif
