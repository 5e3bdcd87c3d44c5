/* SPDX-License-Identifier: MIT */
/* Writes the JSON report. Every json_*_new steals its argument and refuses NULL, so a
 * failed allocation anywhere shows as one failure at the end of a chain. */
#include "gen/report/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "gen/elf/object/object.h"
#include "gen/rows/refusal.h"

/* The number of digits makes a document that is read and written again the same. */
#define JSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9))

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
	    "sframe_index", (json_int_t)report->stats.index_bytes, "sframe_rows",
	    (json_int_t)report->stats.row_bytes, "saved_by_sharing",
	    (json_int_t)report->stats.shared_away);
}

static json_t *counts_of(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	const struct cfi_input *input = report->input;
	const struct sf_compact_stats *joined = &report->compact;
	json_t *counts = json_pack("{sI sI sI sI sI sI sI sI sI}", "cies",
	    (json_int_t)input->frames.n_cies, "fdes", (json_int_t)input->frames.n_fdes,
	    "duplicate_fdes", (json_int_t)coverage->n_duplicates, "functions_with_cfi",
	    (json_int_t)coverage->n_fdes, "functions_with_rows",
	    (json_int_t)coverage->n_functions, "functions_with_gaps",
	    (json_int_t)coverage->n_refused, "cfi_rows", (json_int_t)coverage->n_rows,
	    "sframe_functions", (json_int_t)report->n_funcs, "sframe_rows",
	    (json_int_t)report->n_rows);

	if (counts && report->details.made)
		counts = kept(
		    counts, json_object_set_new(counts, "functions_without_cfi",
				json_integer((json_int_t)report->details.n_functions)));
	if (counts && joined->n_before)
		counts = kept(counts,
		    json_object_update_new(counts,
			json_pack("{sI sI}", "sframe_functions_before_joining",
			    (json_int_t)joined->n_before, "sframe_rows_before_joining",
			    (json_int_t)joined->rows_before)));
	return counts;
}

static json_t *code_of(const struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	const struct report_details *details = &report->details;
	json_t *code = json_pack("{sI sI sI sI sI sf sf}", "executable",
	    (json_int_t)coverage->text_bytes, "with_cfi",
	    (json_int_t)coverage->code_bytes, "covered",
	    (json_int_t)coverage->covered_bytes, "outermost",
	    (json_int_t)coverage->outermost_bytes, "plt_template",
	    (json_int_t)coverage->template_bytes, "percent_of_cfi",
	    coverage_percent(coverage, COVERAGE_OF_CFI), "percent_of_executable",
	    coverage_percent(coverage, COVERAGE_OF_TEXT));

	if (code && report->compact.padding_bytes)
		code = kept(
		    code, json_object_set_new(code, "padding_with_rows",
			      json_integer((json_int_t)report->compact.padding_bytes)));
	if (code && report->input->corrections.n)
		code = kept(code,
		    json_object_set_new(code, "repaired",
			json_integer(
			    (json_int_t)report->input->corrections.repaired_bytes)));
	if (!code || !details->made)
		return code;
	return kept(code,
	    json_object_update_new(code,
		json_pack("{sI sI sI sI sb}", "without_cfi",
		    (json_int_t)(details->bytes[REPORT_CODE] +
				 details->bytes[REPORT_PLT] +
				 details->bytes[REPORT_UNKNOWN]),
		    "data", (json_int_t)details->bytes[REPORT_DATA], "padding",
		    (json_int_t)coverage->padding_bytes, "padding_in_code",
		    (json_int_t)details->padding, "decoded", (int)details->decoded)));
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

/* With the name of the function at pc, if it has one, and its symbol if that differs. */
static json_t *named(json_t *object, const struct report *report, uint64_t pc)
{
	const struct symbol *symbol = symbols_find(report_symbols(report), pc);
	char *name = symbol ? symbol_demangle(symbol->name) : NULL;

	/* Without its name a function would be another one to who compares reports. */
	if (symbol && !name) {
		json_decref(object);
		return NULL;
	}
	if (object && name)
		object = kept(object, json_object_set_new(object, "name", text(name)));
	if (object && name && strcmp(name, symbol->name) != 0)
		object = kept(
		    object, json_object_set_new(object, "symbol", text(symbol->name)));
	free(name);
	return object;
}

static json_t *gap_of(const struct report *report, size_t i)
{
	const struct coverage_gap *gap = &report->coverage.gaps[i];
	const struct report_gap *more =
	    report->details.gaps ? &report->details.gaps[i] : NULL;
	json_t *object = json_pack("{ss so sI so si}", "reason", refusal_name(gap->why),
	    "start", place(report, gap->start), "size",
	    (json_int_t)(gap->end - gap->start), "function", place(report, gap->fde_pc),
	    "needs", (int)refusal_needs(gap->why, report->input->arch));

	if (object && more)
		object =
		    kept(object, json_object_set_new(object, "cfi", address(more->cfi)));
	if (object && more && more->rule)
		object =
		    kept(object, json_object_set_new(object, "rule", text(more->rule)));
	return named(object, report, gap->fde_pc);
}

static json_t *stretch_of(const struct report *report, size_t i)
{
	const struct report_stretch *stretch = &report->details.stretches[i];
	json_t *object =
	    json_pack("{so sI ss}", "start", place(report, stretch->start), "size",
		(json_int_t)stretch->size, "kind", report_stretch_name(stretch->kind));

	return stretch->kind == REPORT_DATA ? object
					    : named(object, report, stretch->start);
}

/* What the code gave in the place of a row; null where no row is known. */
static json_t *correction_of(const struct report *report, size_t i)
{
	const struct correction *correction = &report->input->corrections.list[i];
	char *rule = NULL;
	json_t *object;

	if (!correction->row.doubtful) {
		rule = report_rule_text(report->input->arch, &correction->row);
		if (!rule)
			return NULL;
	}
	object = json_pack("{so sI so}", "start", place(report, correction->start),
	    "size", (json_int_t)(correction->end - correction->start), "rule",
	    rule ? text(rule) : json_null());
	free(rule);
	return named(object, report, correction->start);
}

static json_t *section_of(const struct report *report, size_t i)
{
	const struct report_section *section = &report->details.sections[i];

	return json_pack("{so so sI}", "name", text(section->name), "start",
	    place(report, section->start), "size", (json_int_t)section->size);
}

static json_t *cost_of(const struct report *report, size_t i)
{
	const struct sf_cost *cost = &report->costs.list[i];
	json_t *object = json_pack("{so sI sI sI sI sI}", "start", address(cost->start),
	    "size", (json_int_t)cost->size, "rows", (json_int_t)cost->n_rows, "index",
	    (json_int_t)cost->index_bytes, "row_bytes", (json_int_t)cost->row_bytes,
	    "users", (json_int_t)cost->users);

	return named(object, report, cost->start);
}

/* As jansson calls it. */
static int put_piece(const char *piece, size_t size, void *context)
{
	struct report_json *json = context;

	json->failed = json->failed || json->write(piece, size, json->context) != 0;
	return json->failed ? -1 : 0;
}

static bool put(struct report_json *json, const char *piece)
{
	return put_piece(piece, strlen(piece), json) == 0;
}

/* Takes the value. */
static bool put_value(struct report_json *json, json_t *value)
{
	bool ok = value && json_dump_callback(value, put_piece, json, JSON_FLAGS) == 0;

	json_decref(value);
	return ok;
}

/* Another member, on a line of its own; takes the value. */
static bool put_member(struct report_json *json, const char *name, json_t *value)
{
	return put(json, ",\n   \"") && put(json, name) && put(json, "\": ") &&
	       put_value(json, value);
}

/* A member with n entries, one per line. */
static bool put_list(struct report_json *json, const struct report *report,
    const char *name, size_t n, json_t *(*entry)(const struct report *report, size_t i))
{
	bool ok = put(json, ",\n   \"") && put(json, name) && put(json, "\": [");

	for (size_t i = 0; ok && i < n; i++)
		ok = put(json, i ? ",\n    " : "\n    ") &&
		     put_value(json, entry(report, i));
	return ok && put(json, "]");
}

static json_t *producers_of(const struct report_details *details)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < details->n_producers; i++)
		array = kept(
		    array, json_array_append_new(array, text(details->producers[i])));
	return array;
}

static json_t *build_id_of(const struct image_build_id *id)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * 64 + 1];
	size_t n = id->size < 64 ? id->size : 64;

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[id->bytes[i] >> 4];
		hex[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	hex[2 * n] = 0;
	return json_string(hex);
}

/* What the file is. */
static bool put_identity(struct report_json *json, const struct report *report)
{
	const struct report_details *details = &report->details;
	struct image_build_id id;

	return put_member(json, "machine", json_string(report->input->arch->name)) &&
	       (!details->made || put_member(json, "kind",
				      json_string(report_kind_name(details->kind)))) &&
	       (!image_build_id(report->input->policy.image, &id) ||
		   put_member(json, "build_id", build_id_of(&id))) &&
	       (!details->n_producers ||
		   put_member(json, "producers", producers_of(details)));
}

/* What came of patterns. */
static bool put_patterns(struct report_json *json, const struct policy *policy)
{
	const char *few = policy_few_symbols(policy), *option, *pattern;

	return (!few || put_member(json, "symbols", json_string(few))) &&
	       (!policy_unmatched(policy, 0, &option, &pattern) ||
		   put_member(json, "unmatched", unmatched_of(policy)));
}

/* What only some reports have. */
static bool put_extras(struct report_json *json, const struct report *report)
{
	const struct report_details *details = &report->details;

	if (!put_patterns(json, &report->input->policy))
		return false;
	if (report->plan && !put_member(json, "method", method_of(report->plan)))
		return false;
	if (report->coverage.n_plts &&
	    !put_member(json, "unknown_plts", unknown_plts_of(&report->coverage)))
		return false;
	if (details->made &&
	    (!put_list(json, report, "sections", details->n_sections, section_of) ||
		!put_list(json, report, "gaps", report->coverage.n_gaps, gap_of) ||
		!put_list(json, report, "without_cfi", details->n_stretches, stretch_of)))
		return false;
	if (report->input->corrections.n &&
	    !put_list(
		json, report, "corrections", report->input->corrections.n, correction_of))
		return false;
	if (report->formats.n &&
	    !put_member(json, "formats", report_formats_json(&report->formats)))
		return false;
	return !report->costs.n ||
	       put_list(json, report, "costs", report->costs.n, cost_of);
}

static bool report_json_ended(struct report_json *json, bool ok, struct err *err)
{
	if (ok)
		return true;
	return json->failed ? err_set(err, ERR_IO, "cannot write the report")
			    : err_set_nomem(err);
}

/* What all files have. */
static bool put_file(struct report_json *json, const char *path, int status)
{
	return put(json,
		   json->n_files++ ? ",\n  {\n   \"path\": " : "\n  {\n   \"path\": ") &&
	       put_value(json, text(path)) &&
	       put_member(json, "status", json_integer(status));
}

bool report_json_begin(struct report_json *json, struct err *err)
{
	bool ok =
	    put(json, "{\n \"tool\": \"eh2sframe\",\n \"version\": \"" EH2SFRAME_VERSION
		      "\",\n \"schema\": ") &&
	    put_value(json, json_integer(REPORT_SCHEMA)) && put(json, ",\n \"files\": [");

	return report_json_ended(json, ok, err);
}

bool report_json_add(
    struct report_json *json, const struct report *report, int status, struct err *err)
{
	bool ok = put_file(json, report->path, status) && put_identity(json, report) &&
		  put_member(json, "format", json_integer(report->version)) &&
		  put_member(json, "sizes", sizes_of(report)) &&
		  put_member(json, "counts", counts_of(report)) &&
		  put_member(json, "code", code_of(report)) &&
		  put_member(json, "refused", refused_of(report)) &&
		  put_member(json, "records", records_of(&report->input->frames)) &&
		  put_extras(json, report) && put(json, "}");

	return report_json_ended(json, ok, err);
}

bool report_json_fail(struct report_json *json, const char *path, int status,
    const char *why, struct err *err)
{
	bool ok = put_file(json, path, status) && put_member(json, "error", text(why)) &&
		  put(json, "}");

	return report_json_ended(json, ok, err);
}

bool report_json_end(struct report_json *json, struct err *err)
{
	return report_json_ended(
	    json, put(json, json->n_files ? "\n ]\n}\n" : "]\n}\n"), err);
}
