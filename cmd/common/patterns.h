/* SPDX-License-Identifier: MIT */
/* Remembers which patterns of --exclude-section and --exclude-symbol matched, over all files of a run. */
#ifndef CMD_COMMON_PATTERNS_H
#define CMD_COMMON_PATTERNS_H

#include <jansson.h>

#include "base/program/fail.h"

/* Strings are borrowed from argv. */
struct patterns {
	struct pattern {
		const char *option, *value;
		bool matched;
	} * list;
	size_t n, cap;
	bool allow_unmatched; /* was given */
	size_t files;	      /* that were looked at */
	size_t none, dynamic; /* of those, that have no symbols, or dynamic ones alone */
};

ATTR_MUST_CHECK bool cmd_patterns_add(
    struct patterns *patterns, const char *option, const char *value);
void cmd_patterns_deinit(struct patterns *patterns);

/* Adds the patterns of one file: the object of its report. */
void cmd_patterns_note(struct patterns *patterns, const json_t *file);

/* Prints at the end which patterns matched nothing in any file, and unless quiet how many files have
 * too few symbols. Returns the exit status for them: 0, too, when there was no file. */
int cmd_patterns_judge(const struct patterns *patterns, bool quiet);

#endif
