/* SPDX-License-Identifier: MIT */
/* Adds up the patterns of all files. */
#include "cmd/common/patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/program/print.h"

bool cmd_patterns_add(struct patterns *patterns, const char *option, const char *value)
{
	if (!vec_reserve(&patterns->list, &patterns->cap, patterns->n + 1))
		return false;
	patterns->list[patterns->n++] = (struct pattern){option, value, false};
	return true;
}

void cmd_patterns_deinit(struct patterns *patterns)
{
	free(patterns->list);
	*patterns = (struct patterns){0};
}

void cmd_patterns_note(
    struct patterns *patterns, cmd_unmatched_fn *unmatched, const void *file)
{
	patterns->files++;
	for (size_t k = 0; k < patterns->n; k++) {
		struct pattern *pattern = &patterns->list[k];
		const char *option, *value;
		size_t i = 0;

		while (unmatched(file, i, &option, &value) &&
		       (strcmp(option, pattern->option) != 0 ||
			   strcmp(value, pattern->value) != 0))
			i++;
		pattern->matched |= !unmatched(file, i, &option, &value);
	}
}

int cmd_patterns_judge(const struct patterns *patterns, bool quiet)
{
	int status = 0;

	if (!quiet && patterns->none + patterns->dynamic)
		fprintf(stderr,
		    "eh2sframe: --exclude-symbol: of %zu files, %zu have no symbols and "
		    "%zu only dynamic ones\n",
		    patterns->files, patterns->none, patterns->dynamic);
	for (size_t k = 0; patterns->files && k < patterns->n; k++) {
		struct eh2sframe_error error;

		if (patterns->list[k].matched || patterns->allow_unmatched)
			continue;
		cmd_fail(&error, EH2SFRAME_USAGE,
		    "--%s=%.200s matches no function with CFI in any file; "
		    "--allow-unmatched permits it",
		    patterns->list[k].option, patterns->list[k].value);
		status = print_error(NULL, &error);
	}
	return status;
}
