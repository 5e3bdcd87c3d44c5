/* SPDX-License-Identifier: MIT */
/*
 * compare FILE...: what SFrame and other formats cost for the same functions and rows, those of
 * the CFI of linked files, in every format that a file's machine has. tests/bench/compare/tables makes
 * docs/FIGURES.md of it. `ninja -C build compare` builds it.
 *
 * Prints JSON: for each file its path, its machine, and a list of formats with their name, the
 * bytes of all their tables, and the functions and bytes of code that they express, which are
 * those where the answer (CFA, return address, frame pointer) is that of the CFI. The rest is in
 * "escapes", by reason. The formats are:
 *
 * - eh_frame: .eh_frame and .eh_frame_hdr as they are.
 * - sframe-VERSION-HOW: a version of SFrame with --optimize=HOW. PLTs without CFI are left out.
 * - compact-unwind: Apple's (x86-64, AArch64), __unwind_info with one encoding for each function
 *   and the FDEs that have none. It also expresses callee-saved registers. An encoding is for the
 *   body of a function and "holds" at calls only (unwind.h). "outside-body" counts other code,
 *   "other-frame" such code in rows that have the bytes of a call; a function with it is not
 *   expressed.
 * - frame-pointers: a walk by frame pointers alone, without tables. Code is expressed where the
 *   rows say that the frame pointer leads to the caller. "frame-unsaid" counts code that has saved
 *   a frame record, without a row that says so.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/compare/file.h"
#include "gen/rows/collect.h"
#include "gen/rows/optimize.h"
#include "gen/rows/plt.h"
#include "sframe/encode.h"
#include "sframe/format.h"

struct compare {
	struct formats_file file;
	json_t *formats;
	struct err err;
};

static void compare_escape(
    json_t *escapes, const char *reason, uint64_t functions, uint64_t bytes)
{
	if (bytes)
		json_object_set_new(escapes, reason,
		    json_pack("{sI sI}", "functions", (json_int_t)functions, "bytes",
			(json_int_t)bytes));
}

/* Takes the escapes over; those in the result itself are not looked at. */
static void compare_add(
    struct compare *compare, const struct formats_result *result, json_t *escapes)
{
	json_array_append_new(compare->formats,
	    json_pack("{ss sI sI sI ss so}", "name", result->name, "bytes",
		(json_int_t)result->bytes, "functions", (json_int_t)result->functions,
		"code_bytes", (json_int_t)result->code_bytes, "holds",
		result->calls_only ? "calls" : "every-pc", "escapes", escapes));
}

/* The section itself has every rule that it has. */
static void compare_eh_frame(struct compare *compare, const struct coverage *coverage)
{
	static const enum refusal lost[] = {REFUSE_OVERLAP, REFUSE_BROKEN_PROGRAM};
	const struct cfi_sources *sources = &compare->file.cfi.sources;
	struct formats_result result = {.name = "eh_frame",
	    .bytes = sources->list[SOURCE_EH_FRAME].size + sources->hdr_size,
	    .functions = coverage->n_fdes,
	    .code_bytes = coverage->code_bytes};
	json_t *escapes = json_object();

	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
		uint64_t functions = coverage->refused[lost[i]].functions;
		uint64_t bytes = coverage->refused[lost[i]].bytes;

		compare_escape(escapes, refusal_name(lost[i]), functions, bytes);
		result.functions -= functions;
		result.code_bytes -= bytes;
	}
	compare_add(compare, &result, escapes);
}

/* Encodes a model as it is. */
static bool compare_encode(struct compare *compare, const struct sf_section *model,
    const struct coverage *coverage, const char *how)
{
	const struct options *options = &compare->file.options;
	const struct sf_encode_options encoding = {.version = options->format,
	    .pcrel = options_pcrel(options),
	    .share = strcmp(how, "none") != 0,
	    .jobs = options->jobs};
	struct formats_result result = {
	    .functions = coverage->n_fdes - coverage->n_refused,
	    .code_bytes = coverage->covered_bytes};
	json_t *escapes = json_object();
	struct wr wr;
	bool ok;

	wr_init(&wr, model->big_endian);
	ok = sf_encode(model, &encoding, &wr, NULL, &compare->err);
	snprintf(result.name, sizeof(result.name), "sframe-%u-%s", encoding.version, how);
	result.bytes = wr.size;
	for (int i = 0; i < N_REFUSALS; i++)
		compare_escape(escapes, refusal_name((enum refusal)i),
		    coverage->refused[i].functions, coverage->refused[i].bytes);
	compare_add(compare, &result, escapes);
	wr_deinit(&wr);
	return ok;
}

/* Encodes a copy of the model, optimised. */
static bool compare_optimize(struct compare *compare, const struct sf_section *model,
    const struct coverage *coverage, bool size)
{
	struct formats_file *file = &compare->file;
	const struct optimize_input input = {
	    &file->image, &file->options, &file->cfi.ranges, coverage};
	struct sf_compact_stats stats = {0};
	struct sf_section copy = {.abi = model->abi,
	    .big_endian = model->big_endian,
	    .fixed_fp_off = model->fixed_fp_off,
	    .fixed_ra_off = model->fixed_ra_off};
	bool ok = sf_section_append(&copy, model) || err_set_nomem(&compare->err);

	file->options.optimize_size = size;
	ok = ok && optimize_model(&input, &copy, &stats, &compare->err) &&
	     compare_encode(compare, &copy, coverage, size ? "size" : "share");
	sf_section_deinit(&copy);
	return ok;
}

/* One version of SFrame with each way to make it smaller. PLTs without CFI are left out, because
 * no other format has them. */
static bool compare_version(struct compare *compare, uint8_t version)
{
	struct formats_file *file = &compare->file;
	const struct arch *arch = file->cfi.arch;
	struct sf_section model = {.abi = arch->sframe_abi,
	    .big_endian = arch->big_endian,
	    .fixed_ra_off = arch->fixed_ra_off};
	struct coverage coverage = {0};
	bool ok;

	file->options.format = version;
	ok = collect_cfi(&file->cfi.frames, &file->cfi.ranges, &file->cfi.policy, &model,
		 &coverage, &compare->err) &&
	     collect_finish(&model, &compare->err);
	if (ok) {
		plt_mark_repeated(&file->image, &model);
		if (json_array_size(compare->formats) == 0)
			compare_eh_frame(compare, &coverage);
	}
	ok = ok && compare_encode(compare, &model, &coverage, "none") &&
	     compare_optimize(compare, &model, &coverage, false) &&
	     compare_optimize(compare, &model, &coverage, true);
	sf_section_deinit(&model);
	coverage_deinit(&coverage);
	return ok;
}

/* The formats that are not SFrame. */
static bool compare_others(struct compare *compare)
{
	struct formats_results results;

	if (!formats_compare(&compare->file.input, &results, &compare->err))
		return false;
	for (size_t i = 0; i < results.n; i++) {
		const struct formats_result *result = &results.list[i];
		json_t *escapes = json_object();

		for (int k = 1; k < FORMATS_N_REASONS; k++)
			compare_escape(escapes,
			    formats_reason_name((enum formats_reason)k),
			    result->escapes[k].functions, result->escapes[k].bytes);
		compare_add(compare, result, escapes);
	}
	return true;
}

/* Returns what is printed of a file; NULL after a message. */
static json_t *compare_file(const char *path)
{
	struct compare compare = {.formats = json_array()};
	json_t *made = NULL;
	bool ok = formats_file_open(&compare.file, path, &compare.err);

	for (uint8_t version = SFRAME_VERSION_1; ok && version <= SFRAME_VERSION_3;
	     version++)
		if (version >= sf_abi_find(compare.file.cfi.arch->sframe_abi)->since)
			ok = compare_version(&compare, version);
	ok = ok && compare_others(&compare);
	if (ok)
		made = json_pack("{ss ss sO}", "path", path, "machine",
		    compare.file.cfi.arch->name, "formats", compare.formats);
	else
		fprintf(stderr, "compare: %s: %s\n", path, compare.err.text);
	json_decref(compare.formats);
	formats_file_close(&compare.file);
	return made;
}

int main(int argc, char **argv)
{
	json_t *files = json_array();
	bool ok = argc > 1;

	for (int i = 1; i < argc; i++)
		ok &= json_array_append_new(files, compare_file(argv[i])) == 0;
	ok &= json_dumpf(files, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF;
	json_decref(files);
	return ok && fclose(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
