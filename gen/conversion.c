/* SPDX-License-Identifier: MIT */
/* A conversion apart from its stages: its beginning, the section alone, and freeing all of it. */
#include "gen/convert.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/insert/undo.h"
#include "gen/verify/lint.h"
#include "gen/verify/prove.h"

/* Judges the patterns: a typo, or strip before the conversion, must not turn an option off unseen. */
static bool convert_patterns(const struct conversion *conv, struct err *err)
{
	const char *option, *pattern, *few = policy_few_symbols(&conv->input.policy);

	if (conv->options->allow_unmatched ||
	    !policy_unmatched(&conv->input.policy, 0, &option, &pattern))
		return true;
	if (strcmp(option, "exclude-symbol") != 0 || !few)
		few = "";
	else
		few = strcmp(few, "none") ? ", because the file has only dynamic symbols"
					  : ", because the file has no symbols";
	return err_set(err, ERR_USAGE,
	    "--%s=%.200s matches no function with CFI%s; --allow-unmatched permits it",
	    option, pattern, few);
}

bool convert_growth(const struct conversion *conv, struct err *err)
{
	double was = (double)conv->image->size, growth;
	struct stat st;

	if (conv->options->max_growth < 0.0)
		return true;
	if (fstat(conv->install.output.fd, &st) < 0)
		return err_set_errno(err, "cannot stat the output");
	growth = 100.0 * ((double)st.st_size - was) / was;
	return growth <= conv->options->max_growth ||
	       err_set(err, ERR_COVERAGE,
		   "the file grows by %.4f%%, from %zu to %jd bytes; --max-growth allows "
		   "%.4f%%",
		   growth, conv->image->size, (intmax_t)st.st_size,
		   conv->options->max_growth);
}

bool convert_no_cfi(const struct conversion *conv, struct err *err)
{
	return err_set(err, ERR_COVERAGE,
	    "no code has CFI; --min-coverage demands that %.4f%% of it is covered",
	    conv->options->min_coverage);
}

bool convert_worthwhile(const struct conversion *conv, struct err *err)
{
	const struct coverage *coverage = &conv->report.coverage;
	const struct options *options = conv->options;
	double wanted = options->min_coverage,
	       percent = coverage_percent(coverage, options->coverage_of);

	if (!convert_patterns(conv, err))
		return false;
	if (conv->model.n_funcs == 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "no function of this file can be described; eh2sframe report says "
		    "why");
	/* The share of nothing is no number. Where there is no code at all, nothing is missing. */
	if (wanted >= 0.0 && options->coverage_of == COVERAGE_OF_CFI &&
	    !coverage->code_bytes && coverage->text_bytes)
		return convert_no_cfi(conv, err);
	if (wanted >= 0.0 && percent < wanted)
		return err_set(err, ERR_COVERAGE,
		    "%.4f%% of %s is covered; --min-coverage demands %.4f%%", percent,
		    options->coverage_of == COVERAGE_OF_TEXT ? "all executable code"
							     : "the code with CFI",
		    wanted);
	if (conv->report.sframe_size > options->max_size)
		return err_set(err, ERR_COVERAGE,
		    ".sframe has %" PRIu64 " bytes; --max-size allows %" PRIu64,
		    conv->report.sframe_size, options->max_size);
	return true;
}

bool convert_leads_back(const struct image *image)
{
	struct err ignored = {0};
	struct undo undo;
	bool ours;

	return undo_find(image, &undo, &ours, &ignored) && ours;
}

/* Opens the original of a file that has a section; conv->original stays closed where the
 * section is of another producer. A file that another tool has rewritten since counts as
 * such: nothing leads back, but the new section takes the place of the old. */
static bool open_original(struct conversion *conv, struct err *err)
{
	struct image_patch patches[IMAGE_MAX_RESTORED];
	struct err lost = {0};
	struct undo undo;
	bool ours;

	ours = undo_find(conv->opened, &undo, &ours, &lost) && ours;
	if (!ours && conv->opened->object)
		return err_set(err, ERR_UNSUPPORTED,
		    "has .sframe of another producer; run objcopy --remove-section "
		    ".sframe FILE NEW, then eh2sframe NEW OUT");
	return !ours || image_open_original(conv->opened, undo.size, patches,
			    undo_patches(&undo, patches), &conv->original, err);
}

/* Finds out if the file can be written, which only fails for a caller that writes. */
static bool find_obstacle(struct conversion *conv, struct err *err)
{
	const uint8_t *data;
	uint64_t addr;
	size_t size;

	if ((conv->opened->object && !object_options(conv->options, err)) ||
	    !image_sframe(conv->opened, &data, &size, &addr, err))
		return false;
	if (!data)
		return true;
	if (!conv->options->refresh)
		return err_set(
		    err, ERR_NOTHING, "has .sframe already; --refresh replaces it");
	return open_original(conv, err);
}

void convert_begin(
    struct conversion *conv, const struct image *opened, const struct options *options)
{
	*conv = (struct conversion){.options = options, .opened = opened};
	conv->original.fd = -1;
	if (find_obstacle(conv, &conv->obstacle))
		conv->obstacle.kind = ERR_NONE;
	conv->image = conv->original.path ? &conv->original : opened;
}

uint64_t convert_lost(const struct conversion *conv)
{
	uint64_t addr, was = 0, is = 0;
	struct err ignored = {0};
	struct sf_view_func func;
	struct sf_view view;
	const uint8_t *data;
	size_t size;

	if (!image_sframe(conv->opened, &data, &size, &addr, &ignored) || !data ||
	    !sf_view_open(data, size, addr, &view, &ignored))
		return 0;
	for (uint32_t i = 0; i < view.n_funcs; i++)
		if (sf_view_func(&view, i, &func, &ignored))
			was += func.func.size;
	for (size_t i = 0; i < conv->model.n_funcs; i++)
		is += conv->model.funcs[i].size;
	return was > is ? was - is : 0;
}

bool convert_section(struct conversion *conv, uint64_t addr, struct err *err)
{
	struct verify_result result = {0};
	struct sf_view view;
	bool ok;

	if (conv->image->object)
		return err_set(err, ERR_UNSUPPORTED,
		    "bare bytes have no place for the relocations that a relocatable "
		    "object needs; eh2sframe --format=N IN OUT writes both sections");
	if (!convert_generate(conv, err) || !convert_worthwhile(conv, err) ||
	    !sf_place(&conv->model, &conv->encoding, addr, &conv->bytes, err) ||
	    !sf_view_open(conv->bytes.data, conv->bytes.size, addr, &view, err) ||
	    !lint_own(&view, NULL, conv->options->reader, err))
		return false;
	ok = !conv->options->prove ||
	     (prove_section(
		  conv->image, conv->image, &view, conv->options, &result, err) &&
		 prove_judge(&result, &conv->report.coverage, err));
	conv->report.held = result.held;
	verify_result_deinit(&result);
	/* PLTs and padding are known by their code, which is read again. */
	return ok ? image_is_unchanged(conv->image, err)
		  : image_blame_change(conv->image, err);
}

bool convert_write_section(
    struct conversion *conv, uint64_t addr, const char *out, struct err *err)
{
	struct install *install = &conv->install;
	bool ok;

	install->image = NULL;
	ok = convert_section(conv, addr, err) &&
	     install_open(install, out, NULL, conv->options, err) &&
	     newfile_write_at(
		 install->output.fd, conv->bytes.data, conv->bytes.size, 0, err) &&
	     install_commit(install, err);
	newfile_abort(&install->output);
	return ok;
}

void convert_deinit(struct conversion *conv)
{
	install_end(&conv->install, false);
	report_deinit(&conv->report);
	wr_deinit(&conv->bytes);
	object_output_deinit(&conv->object);
	sf_section_deinit(&conv->model);
	cfi_input_deinit(&conv->input);
	image_close(&conv->original);
}
