/* SPDX-License-Identifier: MIT */
/*
 * The recipe: .eh_frame in, a proven .sframe out. Each stage is one call. It takes what the
 * stage before it made as const, and owns what it returns.
 */
#include "gen/convert.h"

#include "gen/check/derive/derive.h"
#include "gen/rows/collect.h"
#include "gen/rows/last_calls.h"
#include "gen/rows/optimize.h"
#include "gen/rows/plt.h"
#include "gen/check/validate.h"

/* Sharing confuses readers of the other byte order: most of a big-endian section's. */
static bool shares(const struct conversion *conv)
{
	const struct options *options = conv->options;

	return options->share && (options->optimize_given || !conv->model.big_endian ||
				     (options->reader && options->reader->share_big));
}

/* Counts sources while each function is still one of its own. */
static bool count_sources(struct conversion *conv, struct err *err)
{
	return coverage_sources(
		   conv->image, &conv->input, &conv->model, &conv->report.coverage) ||
	       err_set_nomem(err);
}

/* Gives rows to the return addresses of calls that end a function, for readers that look those up. */
static void reach_calls(struct conversion *conv)
{
	struct coverage *coverage = &conv->report.coverage;

	if (!reader_looks_up_returns(conv->options->reader, conv->options->format,
		conv->input.arch->sframe_abi))
		return;
	last_calls_reach(conv->input.arch, coverage, &conv->model);
	last_calls_count(&conv->model, coverage);
}

/* Encodes the sections of an object, which a linker puts together. */
static bool encode_object(struct conversion *conv, struct err *err)
{
	if (!object_keep_whole(&conv->input, &conv->model, &conv->report.coverage,
		&conv->install.left_whole, err) ||
	    !count_sources(conv, err))
		return false;
	reach_calls(conv);
	return object_encode(conv->image, conv->options, &conv->model, &conv->object,
	    &conv->report.stats, err);
}

/* Encodes the section of a linked file; its place is not known yet. */
static bool encode_linked(struct conversion *conv, struct err *err)
{
	const struct optimize_input input = {
	    conv->image, conv->options, &conv->input.ranges, &conv->report.coverage};

	plt_mark_repeated(conv->image, &conv->model);
	if (!count_sources(conv, err))
		return false;
	if (shares(conv) &&
	    !optimize_model(&input, &conv->model, &conv->report.compact, err))
		return false;
	reach_calls(conv);
	/* The model says it all from here on; encoding needs the memory. */
	cfi_input_forget(&conv->input);
	conv->encoding = (struct sf_encode_options){.version = conv->options->format,
	    .pcrel = options_pcrel(conv->options),
	    .share = shares(conv)};
	wr_init(&conv->bytes, conv->model.big_endian);
	return sf_encode(
	    &conv->model, &conv->encoding, &conv->bytes, &conv->report.stats, err);
}

/* Reads CIEs and FDEs, and finds which FDE owns which code. */
static bool read_cfi(struct conversion *conv, struct err *err)
{
	const struct image *image = conv->image;

	if (cfi_input_read(image, image, conv->options, &conv->input, err))
		return cfi_input_defines(&conv->input, conv->options, err);
	if (err->kind == ERR_NOTHING && conv->options->min_coverage >= 0.0 &&
	    image_first_code(image) != UINT64_MAX)
		return convert_no_cfi(conv, err);
	return false;
}

/* True if functions are in several segments, although a kernel that validates a section
 * wants all of them in one. The model is sorted. */
static bool code_is_apart(const struct conversion *conv)
{
	const struct reader *reader = conv->options->reader;
	const struct sf_section *model = &conv->model;
	const struct sf_func *last =
	    model->n_funcs ? &model->funcs[model->n_funcs - 1] : NULL;

	return last && reader && reader->bit & READER_LINUX && !conv->image->object &&
	       !image_code_segment(conv->image, model->funcs->start,
		   last->start + last->size - model->funcs->start);
}

static bool generate(struct conversion *conv, struct err *err)
{
	struct cfi_input *input = &conv->input;
	struct report *report = &conv->report;
	const struct image *image = conv->image;

	if (!read_cfi(conv, err) || !validate_correct(image, input, conv->options, err) ||
	    !derive_rows(image, input, conv->options, err))
		return false;
	conv->model.abi = input->arch->sframe_abi;
	conv->model.big_endian = input->arch->big_endian;
	conv->model.fixed_ra_off = input->arch->fixed_ra_off;
	/* Interpret and reduce every function. */
	if (!collect_cfi(&input->frames, &input->ranges, &input->policy, &conv->model,
		&report->coverage, err))
		return false;
	/* Look where .debug_frame says something else. */
	for (unsigned int i = 0; i < N_SOURCES; i++)
		if (input->sources.list[i].size &&
		    !cfi_debug_diff_read(&input->frames, &input->ranges,
			&input->arch->cfi, i, i == SOURCE_GO, &report->agree[i]))
			return err_set_nomem(err);
	/* From here on code is looked at several times. */
	install_show(&conv->install);
	/* Add PLT stubs that carry no CFI. */
	if (!image->object && !plt_from_templates(&input->policy, &input->ranges,
				  &conv->model, &report->coverage))
		return err_set_nomem(err);
	/* Add code without CFI whose rows are derived. */
	if (!derived_reduce(&input->derived,
		&(struct target){.arch = input->arch, .version = conv->options->format},
		&conv->model, &report->coverage.derived_bytes))
		return err_set_nomem(err);
	report->coverage.outermost_bytes =
	    report->coverage.refused[REFUSE_RA_UNDEFINED].bytes;
	/* Sort, count all code, and encode. */
	if (!collect_finish(&conv->model, err) ||
	    !coverage_text(image, input->arch, &input->ranges, &conv->model,
		&report->coverage, err) ||
	    !(image->object ? encode_object(conv, err) : encode_linked(conv, err)))
		return false;
	report->path = image->path;
	report->shown = image->shown;
	report->input = input;
	report->version = conv->options->format;
	report->code_apart = code_is_apart(conv);
	report->sframe_size = conv->bytes.size;
	if (image->object)
		report->sframe_size = report->stats.index_bytes + report->stats.row_bytes;
	report->n_funcs = report->stats.n_funcs;
	report->n_rows = report->stats.n_rows;
	return true;
}

bool convert_generate(struct conversion *conv, struct err *err)
{
	conv->made = conv->made || generate(conv, err);
	install_hide(&conv->install);
	conv->install.debug_path = conv->input.sources.debug_path;
	return conv->made;
}

/* Inserts the section at its place in a copy of the file. */
static bool insert_linked(struct conversion *conv, struct err *err)
{
	struct insert_plan *plan = &conv->install.plan;

	/* Find a place, and fill in the function starts for it. */
	if (!insert_plan(
		conv->image, conv->bytes.size, conv->options->method, plan, err) ||
	    !sf_place(
		&conv->model, &conv->encoding, plan->sframe_addr, &conv->bytes, err))
		return false;
	conv->report.plan = plan;
	return install_copied(&conv->install, err) &&
	       insert_image(
		   conv->image, plan, conv->bytes.data, conv->install.output.fd, err);
}

/* Puts the sections behind a copy of the object. */
static bool insert_object(struct conversion *conv, struct err *err)
{
	struct object_output *object = &conv->object;
	size_t signature = 0;
	/* A file that is converted again may have been signed in between. */
	bool ok =
	    image_signature(conv->opened, &signature, err) &&
	    install_copied(&conv->install, err) &&
	    object_write(conv->image, &conv->model, object, conv->install.output.fd, err);

	conv->report.object_size = object->file_size;
	conv->report.signature_void = object->signed_module || signature > 0;
	return ok;
}

bool convert_write(struct conversion *conv, const char *out, struct err *err)
{
	bool ok;

	if (conv->obstacle.kind) {
		*err = conv->obstacle;
		return false;
	}
	install_begin(&conv->install, conv->image, conv->options, out);
	ok =
	    convert_generate(conv, err) && convert_worthwhile(conv, err) &&
	    (conv->image->object ? insert_object(conv, err) : insert_linked(conv, err)) &&
	    convert_growth(conv, err) &&
	    install_prove(
		&conv->install, &conv->object, &conv->model, &conv->report.coverage, err);
	conv->report.held = conv->install.held;
	if (ok && conv->options->refresh)
		conv->report.lost_bytes = convert_lost(conv);
	ok = ok && install_commit(&conv->install, err);
	install_end(&conv->install, ok);
	return ok;
}
