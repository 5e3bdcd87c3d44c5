/* SPDX-License-Identifier: MIT */
#include "cmd/batch/left_out.h"

#include "cmd/common/fail.h"
#include "cmd/common/print.h"

void batch_left_out_print(const json_t *report, const char *path, struct batch_bar *bar)
{
	static const struct {
		const char *source, *words;
	} sources[] = {{"debug_frame", ".debug_frame is left out"},
	    {"go", "Go's table is left out"}, {"orc", "the ORC tables are left out"}};
	const json_t *all = json_object_get(report, "sources");
	struct eh2sframe_error line;

	if (json_is_true(json_object_get(report, "already")))
		return;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const json_t *one = json_object_get(all, sources[i].source);
		const char *why = json_string_value(json_object_get(one, "left_out"));

		if (!why)
			continue;
		cmd_fail(&line, EH2SFRAME_DONE, "%.470s; %s", why, sources[i].words);
		batch_bar_erase(bar);
		print_error(path, &line);
	}
}
