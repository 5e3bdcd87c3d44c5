/* SPDX-License-Identifier: MIT */
/* The comparison of formats for programs. */
#include "gen/report/compare.h"
#include "gen/report/json_parts.h"

static json_t *compare_escapes(const struct report_format *format)
{
	json_t *escapes = json_object();

	for (size_t i = 0; escapes && i < format->n_escapes; i++) {
		const struct report_escape *escape = &format->escapes[i];

		if (json_object_set_new(escapes, escape->reason,
			json_pack("{sI sI}", "functions",
			    report_json_count(escape->functions), "bytes",
			    report_json_count(escape->bytes))) == 0)
			continue;
		json_decref(escapes);
		return NULL;
	}
	return escapes;
}

void *report_formats_json(const struct report_formats *formats)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < formats->n; i++) {
		const struct report_format *format = &formats->list[i];

		if (json_array_append_new(
			array, json_pack("{ss sI sI sI ss so}", "name", format->name,
				   "bytes", report_json_count(format->bytes), "functions",
				   report_json_count(format->functions), "code_bytes",
				   report_json_count(format->code_bytes), "holds",
				   format->calls_only ? "calls" : "every-pc", "escapes",
				   compare_escapes(format))) == 0)
			continue;
		json_decref(array);
		return NULL;
	}
	return array;
}
