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

/* Tells if the report of a file lists the pattern. */
static bool patterns_lists(const json_t *unmatched, const struct pattern *pattern)
{
	const json_t *one;
	size_t i;

	json_array_foreach(unmatched, i, one)
	{
		const char *option = json_string_value(json_object_get(one, "option"));
		const char *value = json_string_value(json_object_get(one, "pattern"));

		if (option && value && !strcmp(option, pattern->option) &&
		    !strcmp(value, pattern->value))
			return true;
	}
	return false;
}

void cmd_patterns_note(struct patterns *patterns, const json_t *file)
{
	const json_t *unmatched = json_object_get(file, "unmatched");

	patterns->files++;
	for (size_t k = 0; k < patterns->n; k++)
		patterns->list[k].matched |=
		    !patterns_lists(unmatched, &patterns->list[k]);
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
