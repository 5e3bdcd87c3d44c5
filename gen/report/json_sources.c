/* SPDX-License-Identifier: MIT */
/* Sources of rows, as JSON. */
#include "gen/report/json_parts.h"

static json_t *left_of(const struct go_cfi *cfi)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < cfi->n_left; i++)
		list = report_json_listed(
		    list, json_pack("{so sI so ss}", "start",
			      report_json_address(cfi->left[i].start), "size",
			      report_json_count(cfi->left[i].size), "name",
			      json_utf8(cfi->left[i].name), "reason",
			      go_reason_text(cfi->left[i].why)));
	return list;
}

/* Adds what there is of Go's table. */
static json_t *go_of(const struct report *report, json_t *object)
{
	const struct go_source *go = &report->input->sources.go;

	if (!go->section)
		return object;
	return report_json_joined(object,
	    json_pack("{sI sI so}", "size", report_json_count(go->size), "in_table",
		report_json_count(go->cfi.n_funcs), "without_rows", left_of(&go->cfi)));
}

static json_t *debug_of(const struct report *report, json_t *object)
{
	const struct cfi_sources *sources = &report->input->sources;
	const struct cfi_count *count = &report->input->counts[SOURCE_DEBUG_FRAME];

	object = report_json_joined(
	    object, json_pack("{sI sI sI}", "size",
			report_json_count(sources->list[SOURCE_DEBUG_FRAME].size), "cies",
			report_json_count(count->n_cies), "fdes",
			report_json_count(count->n_fdes)));
	if (object && sources->debug_path)
		object = report_json_with(object, "file", json_utf8(sources->debug_path));
	return object;
}

/* Yield of one source. */
static json_t *source_of(const struct report *report, enum source source)
{
	const struct err *left_out = &report->input->sources.list[source].left_out;
	const struct coverage *coverage = &report->coverage;
	json_t *object = json_pack("{sI sI}", "functions",
	    report_json_count(coverage->sources[source].functions), "bytes",
	    report_json_count(coverage->sources[source].bytes));

	if (object && source == SOURCE_GO)
		object = go_of(report, object);
	if (object && source == SOURCE_DEBUG_FRAME)
		object = debug_of(report, object);
	if (object && left_out->kind)
		object = report_json_with(object, "left_out", json_utf8(left_out->text));
	return object;
}

/* True if there is anything to report about a source. */
static bool source_is_there(const struct report *report, enum source source)
{
	const struct cfi_source *one = &report->input->sources.list[source];

	return source == SOURCE_EH_FRAME || one->size || one->left_out.kind ||
	       (source == SOURCE_DERIVED &&
		   options_derives(report->input->policy.options));
}

static json_t *sources_of(const struct report *report)
{
	json_t *object = json_object();

	for (int i = 0; object && i < N_SOURCES; i++) {
		if (!source_is_there(report, (enum source)i))
			continue;
		object = report_json_with(object, source_name((enum source)i),
		    source_of(report, (enum source)i));
	}
	return object;
}

static json_t *piece_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct coverage_piece *piece = &report->coverage.pieces[i];
	json_t *object = json_pack("{so sI ss}", "start",
	    report_json_place(report->input->policy.image, piece->start), "size",
	    report_json_count(piece->end - piece->start), "source",
	    source_name(piece->source));

	return report_json_named(object, report_symbols(report), piece->start);
}

/* Go's table gives the rows of whole programs, so that its functions are only listed where each one of any
 * source is. */
static bool piece_is_listed(
    const struct report *report, const struct coverage_piece *piece)
{
	return piece->source != SOURCE_GO || report->input->policy.options->verbosity > 0;
}

static bool put_pieces(struct report_json *json, const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	bool ok = true, any = false;

	for (size_t i = 0; ok && i < coverage->n_pieces; i++) {
		if (!piece_is_listed(report, &coverage->pieces[i]))
			continue;
		ok = report_json_put(
			 json, any ? ",\n    " : ",\n   \"other_sources\": [\n    ") &&
		     report_json_value(json, piece_of(report, i));
		any = true;
	}
	return ok && (!any || report_json_put(json, "]"));
}

/* The source of the rows of a range of functions. */
static json_t *source_range_of(const void *context, size_t i)
{
	const struct report *report = context;
	const struct coverage_source_range *range = &report->coverage.source_ranges[i];

	return json_pack("{so sI sI ss}", "start",
	    report_json_place(report->input->policy.image, range->start), "size",
	    report_json_count(range->end - range->start), "functions",
	    report_json_count(range->functions), "source", source_name(range->source));
}

static bool put_source_ranges(struct report_json *json, const struct report *report)
{
	const struct coverage *coverage = &report->coverage;

	if (!coverage->n_pieces)
		return true;
	return report_json_list(
	    json, report, "source_ranges", coverage->n_source_ranges, source_range_of);
}

static json_t *told_at(
    const struct report *report, const struct cfi_debug_diff_told *told)
{
	return json_pack("{so so}", "start",
	    report_json_place(report->input->policy.image, told->pc), "debug_frame",
	    report_json_address(told->off));
}

static json_t *told_of(const void *context, size_t i)
{
	const struct report *report = context;

	return told_at(report, &report->agree[SOURCE_EH_FRAME].told[i]);
}

/* Comparison of .eh_frame with .debug_frame, where both describe code. */
static json_t *agree_of(const struct report *report)
{
	const struct cfi_debug_diff *agree = &report->agree[SOURCE_EH_FRAME];

	return json_pack("{sI sI sI}", "bytes", report_json_count(agree->bytes),
	    "different_bytes",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_DIFFER].bytes),
	    "different_functions",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_DIFFER].n));
}

/* Comparison of Go's table with .debug_frame, where both describe code. */
static json_t *agree_go_of(const struct report *report)
{
	const struct cfi_debug_diff *agree = &report->agree[SOURCE_GO];
	json_t *list = json_array();

	for (size_t i = 0; list && i < agree->n_told; i++)
		list = report_json_listed(list, told_at(report, &agree->told[i]));
	return json_pack("{sI sI sI s{sI sI} s{sI sI} so}", "bytes",
	    report_json_count(agree->bytes), "different_bytes",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_DIFFER].bytes),
	    "different_functions",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_DIFFER].n),
	    "frame_pointer_unchanged", "bytes",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_FP].bytes), "functions",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_FP].n), "no_caller", "bytes",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_NO_CALLER].bytes), "functions",
	    report_json_count(agree->kinds[CFI_DEBUG_DIFF_NO_CALLER].n), "differences",
	    list);
}

bool report_json_sources(struct report_json *json, const struct report *report)
{
	const struct cfi_debug_diff *agree = &report->agree[SOURCE_EH_FRAME];

	return report_json_member(json, "sources", sources_of(report)) &&
	       put_source_ranges(json, report) && put_pieces(json, report) &&
	       (!agree->bytes || report_json_member(json, "in_both", agree_of(report))) &&
	       (!report->agree[SOURCE_GO].bytes ||
		   report_json_member(json, "in_both_go", agree_go_of(report))) &&
	       (!agree->n_told ||
		   report_json_list(json, report, "differences", agree->n_told, told_of));
}
