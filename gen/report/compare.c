/* SPDX-License-Identifier: MIT */
/* The same functions and rows in every format. */
#include "gen/report/compare.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gen/rows/collect.h"
#include "gen/rows/optimize.h"
#include "gen/rows/plt.h"
#include "sframe/encode.h"
#include "sframe/format.h"

/* One file while it is compared. Options are the caller's, less what leaves code out. */
struct compare {
	const struct image *image;
	struct options options;
	struct cfi_input input;
	struct report_formats *formats;
	struct err *err;
};

static struct report_format *compare_new(struct compare *compare, const char *name)
{
	struct report_formats *formats = compare->formats;
	struct report_format *format;

	assert(formats->n < REPORT_MAX_FORMATS);
	format = &formats->list[formats->n++];
	*format = (struct report_format){0};
	snprintf(format->name, sizeof(format->name), "%s", name);
	return format;
}

static void compare_escape(struct report_format *format, const char *reason,
    const char *text, uint64_t functions, uint64_t bytes)
{
	if (bytes && format->n_escapes < REPORT_MAX_ESCAPES)
		format->escapes[format->n_escapes++] =
		    (struct report_escape){reason, text, functions, bytes};
}

/* The section itself has every rule that it has. */
static void compare_eh_frame(struct compare *compare, const struct coverage *coverage)
{
	struct report_format *format = compare_new(compare, "eh_frame");
	const enum refusal lost[] = {REFUSE_OVERLAP, REFUSE_BROKEN_PROGRAM};

	format->bytes = cfi_section_bytes(&compare->input.sources.section) +
			compare->input.sources.hdr_size;
	format->functions = coverage->n_fdes;
	format->code_bytes = coverage->code_bytes;
	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
		compare_escape(format, refusal_name(lost[i]), refusal_text(lost[i]),
		    coverage->refused[lost[i]].functions,
		    coverage->refused[lost[i]].bytes);
		format->functions -= coverage->refused[lost[i]].functions;
		format->code_bytes -= coverage->refused[lost[i]].bytes;
	}
}

/* Encodes a model as it is. */
static bool compare_encode(struct compare *compare, const struct sf_section *model,
    const struct coverage *coverage, const char *how)
{
	const struct sf_encode_options encoding = {.version = compare->options.format,
	    .pcrel = options_pcrel(&compare->options),
	    .share = strcmp(how, "none") != 0,
	    .jobs = compare->options.jobs};
	struct report_format *format;
	char name[32];
	struct wr wr;
	bool ok;

	wr_init(&wr, model->big_endian);
	ok = sf_encode(model, &encoding, &wr, NULL, compare->err);
	snprintf(name, sizeof(name), "sframe-%u-%s", encoding.version, how);
	format = compare_new(compare, name);
	format->bytes = wr.size;
	format->functions = coverage->n_fdes - coverage->n_refused;
	format->code_bytes = coverage->covered_bytes;
	for (int i = 0; i < N_REFUSALS; i++)
		compare_escape(format, refusal_name((enum refusal)i),
		    refusal_text((enum refusal)i), coverage->refused[i].functions,
		    coverage->refused[i].bytes);
	wr_deinit(&wr);
	return ok;
}

/* A copy of the model, optimised. */
static bool compare_optimize(struct compare *compare, const struct sf_section *model,
    const struct coverage *coverage, bool size)
{
	const struct optimize_input input = {
	    compare->image, &compare->options, &compare->input.ranges, coverage};
	struct sf_compact_stats stats = {0};
	struct sf_section copy = {.abi = model->abi,
	    .big_endian = model->big_endian,
	    .fixed_fp_off = model->fixed_fp_off,
	    .fixed_ra_off = model->fixed_ra_off};
	bool ok = sf_section_append(&copy, model) || err_set_nomem(compare->err);

	compare->options.optimize_size = size;
	ok = ok && optimize_model(&input, &copy, &stats, compare->err) &&
	     compare_encode(compare, &copy, coverage, size ? "size" : "share");
	sf_section_deinit(&copy);
	return ok;
}

/* One version of SFrame with each way to make it smaller. PLTs without CFI are left out,
 * because no other format has them. */
static bool compare_version(struct compare *compare, uint8_t version)
{
	const struct arch *arch = compare->input.arch;
	struct sf_section model = {.abi = arch->sframe_abi,
	    .big_endian = arch->big_endian,
	    .fixed_ra_off = arch->fixed_ra_off};
	struct coverage coverage = {0};
	bool ok;

	compare->options.format = version;
	ok = collect_cfi(&compare->input.frames, &compare->input.ranges,
		 &compare->input.policy, &model, &coverage, compare->err) &&
	     collect_finish(&model, compare->err);
	if (ok) {
		plt_mark_repeated(compare->image, &model);
		compare->formats->functions = coverage.n_fdes;
		compare->formats->code_bytes = coverage.code_bytes;
		if (compare->formats->n == 0)
			compare_eh_frame(compare, &coverage);
	}
	ok = ok && compare_encode(compare, &model, &coverage, "none") &&
	     compare_optimize(compare, &model, &coverage, false) &&
	     compare_optimize(compare, &model, &coverage, true);
	sf_section_deinit(&model);
	coverage_deinit(&coverage);
	return ok;
}

static bool compare_code(const void *context, uint64_t addr, uint8_t *bytes, size_t size)
{
	const uint8_t *code = image_at_addr(context, addr, size);

	if (code)
		memcpy(bytes, code, size);
	return code;
}

static uint64_t compare_base(const struct image *image)
{
	uint64_t base = UINT64_MAX;

	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD && image->phdrs[i].p_vaddr < base)
			base = image->phdrs[i].p_vaddr;
	return base;
}

struct formats_input report_formats_input(
    const struct image *image, const struct cfi_input *input)
{
	const struct arch *arch = input->arch;

	return (struct formats_input){.frames = &input->frames,
	    .ranges = &input->ranges,
	    .machine = {.isa = arch->sframe_abi == SFRAME_ABI_AMD64_ENDIAN_LITTLE
				   ? FORMATS_X86_64
			       : arch->sframe_abi == SFRAME_ABI_S390X_ENDIAN_BIG
				   ? FORMATS_S390X
				   : FORMATS_AARCH64,
		.cfi = arch->cfi,
		.ra_reg = arch->ra_reg,
		.sp_from_cfa = arch->sp_from_cfa,
		.sp_saved = arch->sp_saved,
		.big_endian = arch->big_endian},
	    .base = compare_base(image),
	    .code = compare_code,
	    .context = image};
}

/* The formats of formats/. */
static bool compare_others(struct compare *compare)
{
	const struct formats_input input =
	    report_formats_input(compare->image, &compare->input);
	struct formats_results results;

	if (!formats_compare(&input, &results, compare->err))
		return false;
	for (size_t i = 0; i < results.n; i++) {
		const struct formats_result *result = &results.list[i];
		struct report_format *format = compare_new(compare, result->name);

		format->bytes = result->bytes;
		format->functions = result->functions;
		format->code_bytes = result->code_bytes;
		format->calls_only = result->calls_only;
		for (int k = 1; k < FORMATS_N_REASONS; k++)
			compare_escape(format,
			    formats_reason_name((enum formats_reason)k),
			    formats_reason_text((enum formats_reason)k),
			    result->escapes[k].functions, result->escapes[k].bytes);
	}
	return true;
}

_Static_assert(
    N_REFUSALS <= REPORT_MAX_ESCAPES && FORMATS_N_REASONS <= REPORT_MAX_ESCAPES,
    "report_format has an escape for each reason");

/* Everything that leaves code out on request is off. */
static struct options compare_options(const struct options *options)
{
	struct options all = *options;

	all.exclude_sections = all.exclude_symbols = (struct glob_list){0};
	all.verbosity = 0;
	all.names = false;
	all.pcrel = true;
	return all;
}

bool report_compare(const struct image *image, const struct options *options,
    struct report_formats *formats, struct err *err)
{
	struct compare compare = {.image = image,
	    .options = compare_options(options),
	    .formats = formats,
	    .err = err};
	bool ok;

	report_formats_deinit(formats);
	if (image->object)
		return true;
	formats->list = calloc(REPORT_MAX_FORMATS, sizeof(*formats->list));
	if (!formats->list)
		return err_set_nomem(err);
	ok = cfi_input_read(image, image, &compare.options, &compare.input, err);
	for (uint8_t version = SFRAME_VERSION_1; ok && version <= SFRAME_VERSION_3;
	     version++)
		if (version >= sf_abi_find(compare.input.arch->sframe_abi)->since)
			ok = compare_version(&compare, version);
	ok = ok && compare_others(&compare);
	cfi_input_deinit(&compare.input);
	if (!ok)
		report_formats_deinit(formats);
	return ok;
}

void report_formats_deinit(struct report_formats *formats)
{
	free(formats->list);
	*formats = (struct report_formats){0};
}
