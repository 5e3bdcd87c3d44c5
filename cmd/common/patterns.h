/* SPDX-License-Identifier: MIT */
/* Remembers which patterns of --exclude-section and --exclude-symbol matched, over all files of a run. */
#ifndef CMD_COMMON_PATTERNS_H
#define CMD_COMMON_PATTERNS_H

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

/* Gives the i-th pattern that matched nothing in a file, as eh2sframe_result_unmatched. */
typedef bool cmd_unmatched_fn(
    const void *file, size_t i, const char **option, const char **value);

/* Adds the patterns of one file. */
void cmd_patterns_note(
    struct patterns *patterns, cmd_unmatched_fn *unmatched, const void *file);

/* Prints at the end which patterns matched nothing in any file, and unless quiet how many files have
 * too few symbols. Returns the exit status for them: 0, too, when there was no file. */
int cmd_patterns_judge(const struct patterns *patterns, bool quiet);

#endif
