/* SPDX-License-Identifier: MIT */
/* Builds the JSON report. Every json_*_new steals its argument and refuses NULL, so a
 * failed allocation anywhere shows as one failure at the end of a chain. */
#include "gen/report/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "gen/elf/object/object.h"
#include "gen/rows/refusal.h"

/* Bytes that are not UTF-8 (paths and symbol names may be anything) become "?". */
static json_t *text(const char *bytes)
{
	json_t *value = json_string(bytes);
	char *plain;

	if (value)
		return value;
	plain = strdup(bytes);
	if (!plain)
		return NULL;
	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	value = json_string(plain);
	free(plain);
	return value;
}

/* The array or object after an addition; NULL, which loops end at, when that failed. */
static json_t *kept(json_t *whole, int status)
{
	if (status == 0)
		return whole;
	json_decref(whole);
	return NULL;
}

/* Addresses as hexadecimal text: JSON readers keep only 53 bits of a number. */
static json_t *address(uint64_t addr)
{
	return json_sprintf("0x%llx", (unsigned long long)addr);
}

static json_t *sizes_of(const struct report *report)
{
	const struct cfi_input *input = report->input;

	return json_pack("{sI sI sI sI sI sI}", ".eh_frame",
	    (json_int_t)cfi_section_bytes(&input->cfi), ".eh_frame_hdr",
	    (json_int_t)input->hdr_size, ".sframe", (json_int_t)report->sframe_size,
	    "index", (json_int_t)report->stats.index_bytes, "rows",
	    (json_int_t)report->stats.row_bytes, "shared_away",
	    (json_int_t)report->stats.shared_away);
}

static json_t *counts_of(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	const struct cfi_input *input = report->input;

	return json_pack("{sI sI sI sI sI sI sI sI sI}", "cies",
	    (json_int_t)input->frames.n_cies, "fdes", (json_int_t)input->frames.n_fdes,
	    "duplicates", (json_int_t)coverage->n_duplicates, "functions",
	    (json_int_t)coverage->n_fdes, "functions_with_rows",
	    (json_int_t)coverage->n_functions, "functions_with_gaps",
	    (json_int_t)coverage->n_refused, "cfi_rows", (json_int_t)coverage->n_rows,
	    "sframe_functions", (json_int_t)report->n_funcs, "sframe_rows",
	    (json_int_t)report->n_rows);
}

static json_t *code_of(const struct coverage *coverage)
{
	double percent = coverage->code_bytes ? 100.0 * (double)coverage->covered_bytes /
						    (double)coverage->code_bytes
					      : 100.0;

	return json_pack("{sI sI sI sf sI sI sf sf}", "with_cfi",
	    (json_int_t)coverage->code_bytes, "covered",
	    (json_int_t)coverage->covered_bytes, "plt_template",
	    (json_int_t)coverage->template_bytes, "percent", percent, "executable",
	    (json_int_t)coverage->text_bytes, "outermost",
	    (json_int_t)coverage->outermost_bytes, "percent_of_cfi",
	    coverage_percent(coverage, COVERAGE_OF_CFI), "percent_of_executable",
	    coverage_percent(coverage, COVERAGE_OF_TEXT));
}

static json_t *unmatched_of(const struct policy *policy)
{
	const char *option, *pattern;
	json_t *array = json_array();

	for (size_t i = 0; array && policy_unmatched(policy, i, &option, &pattern); i++) {
		if (json_array_append_new(array, json_pack("{ss so}", "option", option,
						     "pattern", text(pattern))) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *unknown_plts_of(const struct coverage *coverage)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < coverage->n_plts; i++) {
		const struct coverage_plt *plt = &coverage->plts[i];
		char bytes[2 * sizeof(plt->bytes) + 1] = "";

		for (uint8_t k = 0; k < plt->n_bytes; k++)
			snprintf(bytes + 2 * (size_t)k, 3, "%02x", plt->bytes[k]);
		array =
		    kept(array, json_array_append_new(array,
				    json_pack("{ss so sI ss}", "section", plt->section,
					"address", address(plt->addr), "bytes",
					(json_int_t)plt->size, "start", bytes)));
	}
	return array;
}

static json_t *refused_of(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	json_t *object = json_object();

	for (int i = 0; object && i < N_REFUSALS; i++) {
		if (!coverage->refused[i].bytes)
			continue;
		object = kept(object,
		    json_object_set_new(object, refusal_name((enum refusal)i),
			json_pack("{sI sI si}", "functions",
			    (json_int_t)coverage->refused[i].functions, "bytes",
			    (json_int_t)coverage->refused[i].bytes, "needs",
			    (int)refusal_needs((enum refusal)i, report->input->arch))));
	}
	return object;
}

static json_t *records_of(const struct cfi_frames *frames)
{
	json_t *object = json_object();

	for (int i = 0; object && i < CFI_N_DIAGS; i++) {
		if (frames->diag_counts[i])
			object = kept(object,
			    json_object_set_new(object,
				cfi_diag_name((enum cfi_diag_kind)i),
				json_integer((json_int_t)frames->diag_counts[i])));
	}
	return object;
}

/* The method taken, and for those tried before it what kept the file from them. */
static json_t *method_of(const struct insert_plan *plan)
{
	json_t *obstacles = json_object();

	for (int i = 0; obstacles && i < N_METHODS; i++) {
		if (plan->obstacles[i] != OBSTACLE_NONE)
			obstacles = kept(obstacles,
			    json_object_set_new(obstacles, method_name((enum method)i),
				json_string(obstacle_text(plan->obstacles[i]))));
	}
	return json_pack("{ss so sI}", "name", method_name(plan->method), "not_by",
	    obstacles, "file_size", (json_int_t)plan->file_size);
}

/* The same in an object, where its section counts. */
static json_t *place(const struct report *report, uint64_t addr)
{
	char where[OBJECT_WHERE];

	return text(object_where(report->input->policy.image, addr, where));
}

/* With the name of the function at pc, if it has one. */
static json_t *named(json_t *object, const struct report *report, uint64_t pc)
{
	char *name = symbols_readable(&report->input->symbols, pc);

	if (object && name)
		object = kept(object, json_object_set_new(object, "name", text(name)));
	free(name);
	return object;
}

static json_t *gap_of(const struct report *report, const struct coverage_gap *gap)
{
	json_t *object = json_pack("{ss so so so}", "reason", refusal_name(gap->why),
	    "start", place(report, gap->start), "end", place(report, gap->end),
	    "function", place(report, gap->fde_pc));

	return named(object, report, gap->fde_pc);
}

static json_t *gaps_of(const struct report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < report->coverage.n_gaps; i++)
		array = kept(array, json_array_append_new(array,
					gap_of(report, &report->coverage.gaps[i])));
	return array;
}

static json_t *compact_of(const struct sf_compact_stats *stats)
{
	return json_pack("{sI sI sI}", "functions", (json_int_t)stats->n_before, "rows",
	    (json_int_t)stats->rows_before, "padding", (json_int_t)stats->padding_bytes);
}

static json_t *cost_of(const struct report *report, const struct sf_cost *cost)
{
	json_t *object = json_pack("{so sI sI sI sI sI}", "start", address(cost->start),
	    "size", (json_int_t)cost->size, "rows", (json_int_t)cost->n_rows, "index",
	    (json_int_t)cost->index_bytes, "row_bytes", (json_int_t)cost->row_bytes,
	    "users", (json_int_t)cost->users);

	return named(object, report, cost->start);
}

static json_t *costs_of(const struct report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < report->costs.n; i++)
		array = kept(array, json_array_append_new(
					array, cost_of(report, &report->costs.list[i])));
	return array;
}

/* What came of patterns. */
static bool add_patterns(json_t *file, const struct policy *policy)
{
	const char *few = policy_few_symbols(policy), *option, *pattern;

	if (few && json_object_set_new(file, "symbols", json_string(few)))
		return false;
	return !policy_unmatched(policy, 0, &option, &pattern) ||
	       json_object_set_new(file, "unmatched", unmatched_of(policy)) == 0;
}

/* What only some reports have. */
static bool add_extras(json_t *file, const struct report *report, bool gaps)
{
	if (!add_patterns(file, &report->input->policy))
		return false;
	if (report->plan && json_object_set_new(file, "method", method_of(report->plan)))
		return false;
	if (gaps && json_object_set_new(file, "gaps", gaps_of(report)))
		return false;
	if (report->coverage.n_plts &&
	    json_object_set_new(file, "unknown_plts", unknown_plts_of(&report->coverage)))
		return false;
	if (report->compact.n_before &&
	    json_object_set_new(file, "fused", compact_of(&report->compact)))
		return false;
	return !report->costs.n ||
	       json_object_set_new(file, "costs", costs_of(report)) == 0;
}

bool report_json_begin(struct report_json *json, struct err *err)
{
	json->files = json_array();
	return json->files || err_set_nomem(err);
}

bool report_json_add(struct report_json *json, const struct report *report, int status,
    bool gaps, struct err *err)
{
	json_t *file = json_pack("{so ss si si so so so so so}", "path",
	    text(report->path), "machine", report->input->arch->name, "status", status,
	    "format", (int)report->version, "sizes", sizes_of(report), "counts",
	    counts_of(report), "code", code_of(&report->coverage), "refused",
	    refused_of(report), "records", records_of(&report->input->frames));

	if (file && !add_extras(file, report, gaps)) {
		json_decref(file);
		file = NULL;
	}
	return json_array_append_new(json->files, file) == 0 || err_set_nomem(err);
}

bool report_json_fail(struct report_json *json, const char *path, int status,
    const char *why, struct err *err)
{
	json_t *file = json_pack(
	    "{so si so}", "path", text(path), "status", status, "error", text(why));

	return json_array_append_new(json->files, file) == 0 || err_set_nomem(err);
}

bool report_json_write(const struct report_json *json,
    int (*write)(const char *text, size_t size, void *context), void *context,
    struct err *err)
{
	json_t *document = json_pack("{ss ss sO}", "tool", "eh2sframe", "version",
	    EH2SFRAME_VERSION, "files", (json_t *)json->files);
	bool ok;

	if (!document)
		return err_set_nomem(err);
	ok = json_dump_callback(document, write, context,
		 JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 &&
	     write("\n", 1, context) == 0;
	json_decref(document);
	return ok || err_set(err, ERR_IO, "cannot write the report");
}

void report_json_deinit(struct report_json *json)
{
	json_decref(json->files);
	json->files = NULL;
}
