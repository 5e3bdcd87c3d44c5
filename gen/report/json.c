/* SPDX-License-Identifier: MIT */
/* Writes the object of a result. Every json_*_new steals its argument and refuses NULL, so a
 * failed allocation anywhere shows as one failure at the end of a chain. */
#include "gen/report/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/report/eh_frame.h"
#include "gen/report/json_parts.h"
#include "gen/rows/refusal.h"

static json_t *sizes_of(const struct report *report)
{
	const struct cfi_input *input = report->input;

	return json_pack("{sI sI sI sI sI sI}", ".eh_frame",
	    report_json_count(input->sources.list[SOURCE_EH_FRAME].size), ".eh_frame_hdr",
	    report_json_count(input->sources.hdr_size), ".sframe",
	    report_json_count(report->sframe_size), "sframe_index",
	    report_json_count(report->stats.index_bytes), "sframe_rows",
	    report_json_count(report->stats.row_bytes), "saved_by_sharing",
	    report_json_count(report->stats.shared_away));
}

static json_t *counts_of(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	const struct cfi_input *input = report->input;
	const struct sf_compact_stats *joined = &report->compact;
	json_t *counts = json_pack("{sI sI sI sI sI sI sI sI sI}", "cies",
	    report_json_count(input->frames.n_cies), "fdes",
	    report_json_count(input->frames.n_fdes), "duplicate_fdes",
	    report_json_count(coverage->n_duplicates), "functions_with_cfi",
	    report_json_count(coverage->n_fdes), "functions_with_rows",
	    report_json_count(coverage->n_functions), "functions_with_gaps",
	    report_json_count(coverage->n_refused), "cfi_rows",
	    report_json_count(coverage->n_rows), "sframe_functions",
	    report_json_count(report->n_funcs), "sframe_rows",
	    report_json_count(report->n_rows));

	if (counts && report->details.made)
		counts = report_json_with(counts, "functions_without_cfi",
		    json_integer(report_json_count(report->details.n_functions)));
	if (counts && coverage->calls_with_row + coverage->calls_misread)
		counts = report_json_joined(counts,
		    json_pack("{sI sI}", "last_calls_with_row",
			report_json_count(coverage->calls_with_row), "last_calls_misread",
			report_json_count(coverage->calls_misread)));
	if (counts && joined->n_before)
		counts = report_json_joined(counts,
		    json_pack("{sI sI}", "sframe_functions_before_joining",
			report_json_count(joined->n_before), "sframe_rows_before_joining",
			report_json_count(joined->rows_before)));
	return counts;
}

/* null where there is no code. */
static json_t *percent_json(const struct coverage *coverage, enum coverage_of of)
{
	const double percent = coverage_percent(coverage, of);

	return isnan(percent) ? json_null() : json_real(percent);
}

static json_t *code_of(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	const struct report_details *details = &report->details;
	const uint64_t padding = report->compact.padding_bytes,
		       go = coverage->sources[SOURCE_GO].bytes;
	const struct {
		const char *name;
		uint64_t bytes;
		bool there;
	} some[] = {{"padding_with_rows", padding, padding}, {"go_table", go, go},
	    {"derived", coverage->derived_bytes, coverage->derived_bytes},
	    {"repaired", coverage->repaired_bytes, report->input->corrections.n}};
	json_t *code = json_pack("{sI sI sI sI sI so so}", "executable",
	    report_json_count(coverage->text_bytes), "with_cfi",
	    report_json_count(coverage->code_bytes), "covered",
	    report_json_count(coverage->covered_bytes), "outermost",
	    report_json_count(coverage->outermost_bytes), "plt_template",
	    report_json_count(coverage->template_bytes), "percent_of_cfi",
	    percent_json(coverage, COVERAGE_OF_CFI), "percent_of_executable",
	    percent_json(coverage, COVERAGE_OF_TEXT));

	for (size_t i = 0; code && i < sizeof(some) / sizeof(*some); i++)
		if (some[i].there)
			code = report_json_with(code, some[i].name,
			    json_integer(report_json_count(some[i].bytes)));
	if (!code || !details->made)
		return code;
	return report_json_joined(code,
	    json_pack("{sI sI sI sI sb}", "without_cfi",
		report_json_count(details->bytes[REPORT_CODE] +
				  details->bytes[REPORT_PLT] +
				  details->bytes[REPORT_UNKNOWN]),
		"data", report_json_count(details->bytes[REPORT_DATA]), "padding",
		report_json_count(coverage->padding_bytes), "padding_in_code",
		report_json_count(details->padding), "decoded", (int)details->decoded));
}

static json_t *unmatched_of(const struct policy *policy)
{
	const char *option, *pattern;
	json_t *array = json_array();

	for (size_t i = 0; array && policy_unmatched(policy, i, &option, &pattern); i++)
		array = report_json_listed(array, json_pack("{ss so}", "option", option,
						      "pattern", json_utf8(pattern)));
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
		array = report_json_listed(
		    array, json_pack("{ss so sI ss}", "section", plt->section, "address",
			       report_json_address(plt->addr), "bytes",
			       report_json_count(plt->size), "start", bytes));
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
		object = report_json_with(object, refusal_name((enum refusal)i),
		    json_pack("{sI sI si}", "functions",
			report_json_count(coverage->refused[i].functions), "bytes",
			report_json_count(coverage->refused[i].bytes), "needs",
			(int)refusal_needs((enum refusal)i, report->input->arch)));
	}
	return object;
}

static json_t *records_of(const struct cfi_frames *frames)
{
	json_t *object = json_object();

	for (int i = 0; object && i < CFI_N_DIAGS; i++) {
		if (frames->diag_counts[i])
			object =
			    report_json_with(object, cfi_diag_name((enum cfi_diag_kind)i),
				json_integer(report_json_count(frames->diag_counts[i])));
	}
	return object;
}

/* The method taken, and what kept the file from the one before it. */
static json_t *method_of(const struct insert_plan *plan)
{
	json_t *obstacles = json_object();

	for (int i = 0; obstacles && i < N_METHODS; i++) {
		if (plan->obstacles[i] != OBSTACLE_NONE)
			obstacles =
			    report_json_with(obstacles, method_name((enum method)i),
				json_string(obstacle_text(plan->obstacles[i])));
	}
	return json_pack("{ss so sI}", "name", method_name(plan->method), "not_by",
	    obstacles, "file_size", report_json_count(plan->file_size));
}

/* As method_of, for an object, which has one way. */
static json_t *object_method_of(const struct report *report)
{
	return json_pack("{ss s{} sI sb}", "name", "object", "not_by", "file_size",
	    report_json_count(report->object_size), "signature_left_out",
	    report->signature_void);
}

/* Bytes that were not compared with libdwarf. */
static json_t *alone_of(const struct verify_held *held)
{
	return json_pack("{sI sI}", "too_many_rows",
	    report_json_count(held->skipped_bytes), "not_listed",
	    report_json_count(held->unlisted_bytes));
}

static json_t *place(const struct report *report, uint64_t addr)
{
	return report_json_place(report->input->policy.image, addr);
}

/* Adds the name of the function at pc. */
static json_t *named(json_t *object, const struct report *report, uint64_t pc)
{
	return report_json_named(object, report_symbols(report), pc);
}

static json_t *gap_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct coverage_gap *gap = &report->coverage.gaps[i];
	const struct report_gap *more =
	    report->details.gaps ? &report->details.gaps[i] : NULL;
	json_t *object = json_pack("{ss so sI so si}", "reason", refusal_name(gap->why),
	    "start", place(report, gap->start), "size",
	    report_json_count(gap->end - gap->start), "function",
	    place(report, gap->fde_pc), "needs",
	    (int)refusal_needs(gap->why, report->input->arch));

	if (object && more && more->section)
		object = report_json_with(object, "cfi", report_json_address(more->cfi));
	if (object && more && more->section && strcmp(more->section, ".eh_frame") != 0)
		object = report_json_with(object, "section", json_string(more->section));
	if (object && more && more->later)
		object = report_json_with(object, "with_format_3",
		    json_integer(report_json_count(more->later)));
	if (object && more && more->rule)
		object = report_json_with(object, "rule", json_utf8(more->rule));
	return named(object, report, gap->fde_pc);
}

/* A return address at which readers find the row of another function, or none. */
static json_t *misread_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct coverage_call *call = &report->coverage.calls[i];

	return named(json_pack("{so so}", "return_address", place(report, call->end),
			 "function", place(report, call->start)),
	    report, call->start);
}

static json_t *stretch_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct report_stretch *stretch = &report->details.stretches[i];
	json_t *object = json_pack("{so sI ss}", "start", place(report, stretch->start),
	    "size", report_json_count(stretch->size), "kind",
	    report_stretch_name(stretch->kind));

	return stretch->kind == REPORT_DATA ? object
					    : named(object, report, stretch->start);
}

/* Rows that no CFI gives. */
static json_t *beyond_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct coverage_beyond *beyond = &report->coverage.beyond[i];

	return named(json_pack("{so sI ss so}", "start", place(report, beyond->start),
			 "size", report_json_count(beyond->end - beyond->start), "kind",
			 report_beyond_name(beyond->kind), "function",
			 place(report, beyond->function)),
	    report, beyond->function);
}

/* The row that the code gave instead; null where none is known. */
static json_t *correction_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct correction *correction = &report->input->corrections.list[i];
	char *rule = NULL;
	json_t *object;

	if (!correction->row.doubtful) {
		rule = report_rule_text(report->input->arch, &correction->row);
		if (!rule)
			return NULL;
	}
	object = json_pack("{so sI so}", "start", place(report, correction->start),
	    "size", report_json_count(correction->end - correction->start), "rule",
	    rule ? json_utf8(rule) : json_null());
	free(rule);
	return named(object, report, correction->start);
}

static json_t *section_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct report_section *section = &report->details.sections[i];

	return json_pack("{so so sI}", "name", json_utf8(section->name), "start",
	    place(report, section->start), "size", report_json_count(section->size));
}

static json_t *producers_of(const struct report_details *details)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < details->n_producers; i++)
		array = report_json_listed(array, json_utf8(details->producers[i]));
	return array;
}

/* Identifies the file. */
static bool put_identity(struct report_json *json, const struct report *report)
{
	const struct report_details *details = &report->details;
	struct image_build_id id;

	return report_json_member(
		   json, "machine", json_string(report->input->arch->name)) &&
	       (!details->made || report_json_member(json, "kind",
				      json_string(report_kind_name(details->kind)))) &&
	       (!image_build_id(report->input->policy.image, &id) ||
		   report_json_member(json, "build_id", report_json_build_id(&id))) &&
	       (!details->n_producers ||
		   report_json_member(json, "producers", producers_of(details)));
}

/* Lists patterns that matched nothing, or could not be tested. */
static bool put_patterns(struct report_json *json, const struct policy *policy)
{
	const char *few = policy_few_symbols(policy), *option, *pattern;

	return (!few || report_json_member(json, "symbols", json_string(few))) &&
	       (!policy_unmatched(policy, 0, &option, &pattern) ||
		   report_json_member(json, "unmatched", unmatched_of(policy)));
}

/* Adds members that only some reports have. */
static bool put_extras(struct report_json *json, const struct report *report)
{
	const struct report_details *details = &report->details;

	if (!put_patterns(json, &report->input->policy))
		return false;
	if (report->plan && !report_json_member(json, "method", method_of(report->plan)))
		return false;
	if (report->object_size &&
	    !report_json_member(json, "method", object_method_of(report)))
		return false;
	if ((report->held.skipped_bytes || report->held.unlisted_bytes) &&
	    !report_json_member(json, "not_by_libdwarf", alone_of(&report->held)))
		return false;
	if (report->coverage.n_plts &&
	    !report_json_member(json, "unknown_plts", unknown_plts_of(&report->coverage)))
		return false;
	if (details->eh_frame.all.functions &&
	    !report_json_member(json, "linux_eh_frame", report_eh_frame_json(report)))
		return false;
	if (details->made && (!report_json_list(json, report, "sections",
				  details->n_sections, section_of) ||
				 !report_json_list(json, report, "gaps",
				     report->coverage.n_gaps, gap_of) ||
				 !report_json_list(json, report, "misread",
				     report->coverage.calls_misread, misread_of) ||
				 !report_json_list(json, report, "without_cfi",
				     details->n_stretches, stretch_of)))
		return false;
	if (report->input->corrections.n &&
	    !report_json_list(
		json, report, "corrections", report->input->corrections.n, correction_of))
		return false;
	return !report->coverage.n_beyond || report_json_list(json, report, "not_by_cfi",
						 report->coverage.n_beyond, beyond_of);
}

bool report_json_result(
    struct report_json *json, const struct report *report, int status, struct err *err)
{
	bool ok =
	    report_json_file(json, report->path, status) && put_identity(json, report) &&
	    report_json_member(json, "format", json_integer(report->version)) &&
	    report_json_member(json, "sizes", sizes_of(report)) &&
	    report_json_member(json, "counts", counts_of(report)) &&
	    report_json_member(json, "code", code_of(report)) &&
	    report_json_member(json, "refused", refused_of(report)) &&
	    report_json_member(json, "records", records_of(&report->input->frames)) &&
	    report_json_sources(json, report) && put_extras(json, report) &&
	    report_json_put(json, "}");

	return report_json_ended(json, ok, err);
}
