/* SPDX-License-Identifier: MIT */
/* The proof as one step: decode, read the CFI, compare, judge. */
#include "gen/verify/prove.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/task.h"
#include "gen/rows/cfi_input.h"
#include "gen/check/derive/derive.h"
#include "gen/check/validate.h"
#include "gen/verify/code_witness.h"
#include "gen/verify/lint.h"

/* Bounds one FDE to about a second. */
#define PROVE_LIBDWARF_ROWS 4096

/* True if the code contradicts no row of the section. */
static bool prove_by_code(const struct image *image, const struct image *cfi_image,
    const struct sf_view *view, const struct options *options, struct err *err)
{
	struct validate_result result;
	struct cfi_input input = {0};
	bool ok = verify_by_code(image, cfi_image, view, options, &input, &result, err);

	if (ok && result.n_faults)
		ok = err_set(err, ERR_PROOF,
		    "the code contradicts %zu function%s of .sframe; the first at "
		    "0x%" PRIx64 "; --code=repair may write what the code says",
		    result.n_of[VALIDATE_WRONG], num_s(result.n_of[VALIDATE_WRONG]),
		    result.faults[0].start);
	validate_result_deinit(&result);
	cfi_input_deinit(&input);
	return ok;
}

/* The check of the section's form, which goes on while the CFI is read. */
struct prove_format {
	const struct image *image;
	const struct sf_view *view;
	struct err err;
	bool ok;
};

static void prove_check_format(void *context)
{
	struct prove_format *format = context;

	format->ok = lint_format(format->image, format->view, &format->err);
}

bool prove_section(const struct image *image, const struct image *cfi_image,
    const struct sf_view *view, const struct options *options,
    struct verify_result *result, struct err *err)
{
	struct prove_format format = {.image = image, .view = view};
	struct task checking = {0};
	struct cfi_input cfi;
	bool ok;

	if (options->jobs > 1)
		task_start(&checking, prove_check_format, &format);
	else
		prove_check_format(&format);
	ok = cfi_input_read(image, cfi_image, options, &cfi, err);
	task_wait(&checking);
	if (!ok)
		return false;
	if (!format.ok)
		*err = format.err;
	ok = format.ok;
	if (ok) {
		const struct verify_input input = {
		    view, &cfi.frames, &cfi.ranges, &cfi.policy};

		result->advice = lint_advice(image);
		result->one_source = !cfi_section_debug(&cfi.sources.section);
		ok = validate_correct(image, &cfi, options, err) &&
		     derive_rows(image, &cfi, options, err) &&
		     verify_own(&input, result, err);
		if (ok && options->witness == WITNESS_LIBDWARF &&
		    result->n_differences == 0)
			ok = verify_libdwarf(&input, PROVE_LIBDWARF_ROWS, result, err);
		if (ok && options->witness == WITNESS_CODE && result->n_differences == 0)
			ok = prove_by_code(image, cfi_image, view, options, err);
	}
	cfi_input_deinit(&cfi);
	return ok;
}

uint64_t verify_code_alone(const struct verify_held *held)
{
	return held->template_bytes + held->derived_bytes + held->repaired_bytes;
}

/* Rows that got lost on the way differ from nothing, so each kind of code is counted. */
static bool prove_counts(
    const struct verify_result *result, const struct coverage *written, struct err *err)
{
	const struct verify_held *held = &result->held;
	const struct {
		uint64_t held, written;
		const char *what;
	} kinds[] = {
	    /* Our reader has compared what libdwarf was not asked, or does not list. */
	    {held->cfi_bytes + held->go_bytes + held->repaired_bytes +
		    held->skipped_bytes + held->unlisted_bytes,
		written->covered_bytes, "code with CFI"},
	    {held->by_libdwarf ? written->repaired_bytes : held->repaired_bytes,
		written->repaired_bytes, "code with repaired rows"},
	    {held->template_bytes, written->template_bytes, "PLT stubs"},
	    {held->derived_bytes, written->derived_bytes, "code without CFI"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].held != kinds[i].written)
			return err_set(err, ERR_PROOF,
			    "the proof covers %" PRIu64
			    " bytes of %s instead of %" PRIu64,
			    kinds[i].held, kinds[i].what, kinds[i].written);
	return result->missing_bytes == 0 ||
	       err_set(err, ERR_PROOF,
		   "%" PRIu64 " byte%s of code could have a row but have none",
		   result->missing_bytes, num_s(result->missing_bytes));
}

bool prove_judge(
    const struct verify_result *result, const struct coverage *written, struct err *err)
{
	/* For a section that was there, the caller prints all differences. */
	if (result->n_differences && !written)
		return err_set(err, ERR_PROOF,
		    "%zu difference%s between .sframe and CFI; %s%s",
		    result->n_differences, num_s(result->n_differences),
		    result->n_bare && result->one_source
			? "its debug file may have the CFI (--debug-file, --debug-dir); "
			: "",
		    result->advice);
	if (result->n_differences)
		return err_set(err, ERR_PROOF,
		    "%zu difference%s between .sframe and CFI; the first at %s; report "
		    "this with the file",
		    result->n_differences, num_s(result->n_differences),
		    result->n_texts ? result->texts[0] : "?");
	return !written || prove_counts(result, written, err);
}
