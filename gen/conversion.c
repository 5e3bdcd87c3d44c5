/* SPDX-License-Identifier: MIT */
/* A conversion apart from its stages: where it begins, the section alone, what it costs,
 * and freeing all of it. */
#include "gen/convert.h"

#include "gen/insert/undo.h"
#include "gen/verify/lint.h"
#include "gen/verify/prove.h"

bool convert_worthwhile(const struct conversion *conv, struct err *err)
{
	const struct coverage *coverage = &conv->report.coverage;
	double wanted = conv->options->min_coverage;

	if (conv->model.n_funcs == 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "no function of this file can be described; --report says why");
	if (wanted >= 0.0 && coverage_percent(coverage) < wanted)
		return err_set(err, ERR_COVERAGE,
		    "%.4f%% of the code is covered; --min-coverage demands %.4f%%",
		    coverage_percent(coverage), wanted);
	return true;
}

/* Opens the original of a file that has a section; conv->original stays closed where the
 * section is of another producer. */
static bool open_original(struct conversion *conv, struct err *err)
{
	struct image_patch patches[UNDO_MAX_PATCHES];
	struct undo undo;
	bool ours;

	if (!undo_find(conv->opened, &undo, &ours, err))
		return false;
	if (!ours && conv->opened->object)
		return err_set(err, ERR_UNSUPPORTED,
		    "has .sframe of another producer; first remove it with objcopy "
		    "--remove-section=.sframe");
	return !ours || image_open_original(conv->opened, undo.size, patches,
			    undo_patches(&undo, patches), &conv->original, err);
}

/* What stands against writing is an error only for a caller that writes. */
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

bool convert_section(struct conversion *conv, uint64_t addr, struct err *err)
{
	struct verify_result result = {0};
	struct sf_view view;
	bool ok;

	if (conv->image->object)
		return err_set(err, ERR_UNSUPPORTED,
		    "--section-only: a relocatable object's .sframe means nothing "
		    "without its relocations; convert the object");
	if (!convert_generate(conv, err) || !convert_worthwhile(conv, err) ||
	    !sf_place(&conv->model, &conv->encoding, addr, &conv->bytes, err) ||
	    !sf_view_open(conv->bytes.data, conv->bytes.size, addr, &view, err) ||
	    !lint_own(&view, NULL, conv->options->reader, err))
		return false;
	ok = !conv->options->prove ||
	     (prove_section(
		  conv->image, conv->image, &view, conv->options, &result, err) &&
		 prove_judge(&result, conv->report.coverage.covered_bytes, err));
	verify_result_deinit(&result);
	return ok;
}

bool convert_write_section(
    struct conversion *conv, uint64_t addr, const char *out, struct err *err)
{
	struct install *install = &conv->install;
	bool ok;

	install->image = NULL;
	ok = convert_section(conv, addr, err) &&
	     install_open(install, out, -1, conv->options, err) &&
	     newfile_write(&install->output, conv->bytes.data, conv->bytes.size, err) &&
	     install_commit(install, err);
	newfile_abort(&install->output);
	return ok;
}

/* The starts are filled in for an address that no version is out of reach of. */
bool convert_costs(struct conversion *conv, struct err *err)
{
	struct wr *bytes = &conv->bytes;
	uint64_t addr = conv->model.n_funcs ? conv->model.funcs[0].start : 0;
	struct sf_view view;

	sf_costs_deinit(&conv->report.costs);
	/* The linker lays them out again. */
	if (conv->image->object)
		return true;
	return sf_place(&conv->model, &conv->encoding, addr, bytes, err) &&
	       sf_view_open(bytes->data, bytes->size, addr, &view, err) &&
	       sf_costs_read(&view, &conv->report.costs, err);
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
