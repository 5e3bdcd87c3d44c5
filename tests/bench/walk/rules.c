/* SPDX-License-Identifier: MIT */
/*
 * rules VERSION FILE...: how much code without rows has a rule of CFI that a walker can
 * follow (eh2sframe_result_extra), by the reason why it has no rows. Prints Markdown.
 * tests/bench/walk/run builds it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/eh2sframe.h"

enum { MAX_REASONS = 64 };

static struct reason {
	const char *name;
	size_t n_gaps;
	uint64_t bytes, with_rule;
} reasons[MAX_REASONS];

static struct reason *reason_of(const char *name)
{
	size_t i = 0;

	/* Names live as long as the library, and there are fewer than MAX_REASONS. */
	while (reasons[i].name && strcmp(reasons[i].name, name) != 0)
		i++;
	reasons[i].name = name;
	return &reasons[i];
}

/* Both lists ascend; a rule lies in one gap, or in neighbours of several reasons. */
static void count(const struct eh2sframe_result *result)
{
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct eh2sframe_extra rule;
	size_t at = 0;

	for (size_t i = 0; eh2sframe_result_gap(result, i, &gap); i++) {
		struct reason *reason = reason_of(gap.reason);

		reason->n_gaps++;
		reason->bytes += gap.end - gap.start;
		while (
		    eh2sframe_result_extra(result, at, &rule) && rule.start < gap.end) {
			uint64_t start = rule.start > gap.start ? rule.start : gap.start;
			uint64_t end = rule.end < gap.end ? rule.end : gap.end;

			if (start < end)
				reason->with_rule += end - start;
			if (rule.end > gap.end)
				break;
			at++;
		}
	}
}

int main(int argc, char **argv)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	uint64_t code = 0, covered = 0, bytes = 0, with_rule = 0;
	size_t n_files = 0;

	if (argc < 3 || !options ||
	    !eh2sframe_options_set(options, "format", argv[1], NULL) ||
	    !eh2sframe_options_set(options, "jobs", "1", NULL))
		return EXIT_FAILURE;
	for (int i = 2; i < argc; i++) {
		struct eh2sframe_file *file = eh2sframe_open_path(argv[i], options, NULL);
		struct eh2sframe_result *result =
		    file ? eh2sframe_convert(file, NULL, NULL) : NULL;

		if (result) {
			n_files++;
			code +=
			    eh2sframe_result_count(result, EH2SFRAME_COUNT_CODE_BYTES);
			covered +=
			    eh2sframe_result_count(result, EH2SFRAME_COUNT_COVERED_BYTES);
			count(result);
		}
		eh2sframe_result_free(result);
		eh2sframe_close(file);
	}
	eh2sframe_options_free(options);
	printf("Version %s, %zu files: %" PRIu64 " bytes of code with CFI, %" PRIu64
	       " with rows.\n\n",
	    argv[1], n_files, code, covered);
	printf(
	    "| reason | gaps | bytes without rows | of them with a rule | with neither "
	    "|\n|---|---|---|---|---|\n");
	for (size_t i = 0; reasons[i].name; i++) {
		printf("| %s | %zu | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n",
		    reasons[i].name, reasons[i].n_gaps, reasons[i].bytes,
		    reasons[i].with_rule, reasons[i].bytes - reasons[i].with_rule);
		bytes += reasons[i].bytes;
		with_rule += reasons[i].with_rule;
	}
	printf("| all | | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n", bytes, with_rule,
	    bytes - with_rule);
	return EXIT_SUCCESS;
}
