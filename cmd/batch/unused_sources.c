/* SPDX-License-Identifier: MIT */
/* Prints what the report of one file says of its sources. */
#include "cmd/batch/unused_sources.h"

#include "base/num.h"
#include "base/program/fail.h"
#include "base/program/print.h"

/* Prints one line; why is the member that has the bytes. */
static void left_out_of_proof(const json_t *alone, const char *why, const char *words,
    const char *path, struct batch_bar *bar)
{
	const json_int_t bytes = json_integer_value(json_object_get(alone, why));
	struct eh2sframe_error line;

	if (bytes <= 0)
		return;
	cmd_fail(&line, EH2SFRAME_DONE,
	    "%" JSON_INTEGER_FORMAT " byte%s of code not compared with libdwarf, %s; the "
	    "program's own reader covers them",
	    bytes, num_s((uint64_t)bytes), words);
	batch_bar_erase(bar);
	print_error(path, &line);
}

void batch_unused_sources_print(
    const json_t *report, const char *path, struct batch_bar *bar)
{
	static const struct {
		const char *source, *words;
	} sources[] = {{"debug_frame", ".debug_frame is left out"},
	    {"go", "Go's table is left out"}};
	const json_t *all = json_object_get(report, "sources");
	const json_t *alone = json_object_get(report, "not_by_libdwarf");
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
	left_out_of_proof(alone, "too_many_rows",
	    "because their functions have too many rows", path, bar);
	left_out_of_proof(
	    alone, "not_listed", "which does not list their FDEs", path, bar);
}
