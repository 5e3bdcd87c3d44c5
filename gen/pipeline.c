/* SPDX-License-Identifier: MIT */
/*
 * The recipe: .eh_frame in, a proven .sframe out. Each stage is one call; each takes what
 * the one before it made as const and owns only what it returns.
 */
#include "gen/pipeline.h"

#include <inttypes.h>

#include "gen/collect.h"
#include "gen/verify/lint.h"
#include "gen/optimize.h"
#include "gen/plt.h"
#include "gen/verify/prove.h"
#include "gen/insert/undo.h"
#include "sframe/format.h"

/* Below this a thread costs more than it saves. */
#define PIPELINE_BESIDE_SIZE ((size_t)1 << 20)

/* A file that has the section already is left alone, or taken back to what it was
 * without. */
static bool pipeline_refresh(struct pipeline *line, struct err *err)
{
	const uint8_t *data;
	struct image original;
	struct undo undo;
	uint64_t addr;
	size_t size;
	bool ours;

	if ((line->image.object && !object_options(line->options, err)) ||
	    !image_sframe(&line->image, &data, &size, &addr, err))
		return false;
	if (!data)
		return true;
	if (!line->options->refresh)
		return err_set(
		    err, ERR_NOTHING, "has .sframe already; --refresh replaces it");
	if (!undo_find(&line->image, &undo, &ours, err))
		return false;
	if (!ours && line->image.object)
		return err_set(err, ERR_UNSUPPORTED,
		    "has .sframe of another producer; take it out first, with "
		    "objcopy --remove-section=.sframe");
	if (!ours)
		return true;
	if (!image_open_original(&line->image, &undo, &original, err))
		return false;
	/* What was made refers to the image that the original takes the place of. */
	pipeline_unmake(line);
	if (line->refreshed.path)
		image_close(&line->image);
	else
		line->refreshed = line->image;
	line->image = original;
	return true;
}

const struct image *pipeline_opened(const struct pipeline *line)
{
	return line->refreshed.path ? &line->refreshed : &line->image;
}

/* Sharing confuses readers of the other byte order, which are those that most people have
 * for a big-endian file. */
static bool pipeline_shares(const struct pipeline *line)
{
	const struct options *options = line->options;

	return options->share && (options->optimize_given || !line->model.big_endian);
}

static bool pipeline_defined(const struct arch *arch, uint8_t version, struct err *err)
{
	const struct sf_abi *abi = sf_abi_find(arch->sframe_abi);

	return version >= abi->since ||
	       err_set(err, ERR_UNSUPPORTED,
		   "SFrame version %u is not defined for %s; --format=%u is", version,
		   arch->name, abi->since);
}

/* Where the result goes; out is NULL for memory. */
static bool pipeline_output(
    struct pipeline *line, const char *out, int like_fd, struct err *err)
{
	return out ? newfile_begin(
			 out, like_fd, &line->options->watch, &line->output, err)
		   : newfile_begin_memory(&line->output, err);
}

static bool pipeline_finish(struct pipeline *line, int like_fd, struct err *err)
{
	return line->output.memory || newfile_commit(&line->output, like_fd, err);
}

static void pipeline_copy(void *context)
{
	struct pipeline *line = context;

	line->copied = insert_body(&line->image, line->output.fd, &line->copy_err);
	newfile_written(&line->output);
}

/* Whatever goes wrong here is told when the file is needed, if it is. */
static void pipeline_begin_copy(struct pipeline *line, const char *out)
{
	struct cfi_section cfi;
	struct err ignored = {0};
	bool found;

	/* Most files that come to nothing do so for want of it. */
	if (!image_eh_frame(&line->image, &cfi, &found, NULL, &ignored) || !found)
		return;
	if (!pipeline_output(line, out, line->image.fd, &line->copy_err))
		return;
	line->beside =
	    line->options->jobs > 1 && line->image.size >= PIPELINE_BESIDE_SIZE;
	if (line->beside)
		task_start(&line->copying, pipeline_copy, line);
	else
		pipeline_copy(line);
}

static bool pipeline_optimize(struct pipeline *line, struct err *err)
{
	const struct optimize_input input = {
	    &line->image, line->options, &line->source.ranges, &line->report.coverage};

	return optimize_model(&input, &line->model, &line->report.fused, err);
}

/* From the model of an object to its sections, which a linker puts together. */
static bool pipeline_object_stages(struct pipeline *line, struct err *err)
{
	struct report *report = &line->report;

	if (!collect_finish(&line->model, err) ||
	    !object_keep_whole(
		&line->source, &line->model, &report->coverage, &line->left_whole, err) ||
	    !object_encode(&line->image, line->options, &line->model, &line->object,
		&report->stats, err))
		return false;
	report->sframe_size = report->stats.index_bytes + report->stats.row_bytes;
	report->n_funcs = report->stats.n_funcs;
	report->n_rows = report->stats.n_rows;
	return true;
}

static bool pipeline_stages(struct pipeline *line, struct err *err)
{
	struct source *source = &line->source;
	struct coverage *coverage = &line->report.coverage;
	const struct arch *arch;

	/* CIEs, FDEs, and which FDE owns which code. */
	if (!source_read(&line->image, &line->image, line->options, source, err))
		return false;
	arch = source->arch;
	if (!pipeline_defined(arch, line->options->format, err))
		return false;
	line->report.path = line->image.path;
	line->report.source = source;
	line->report.version = line->options->format;
	line->model.abi = arch->sframe_abi;
	line->model.big_endian = arch->big_endian;
	line->model.fixed_ra_off = arch->fixed_ra_off;
	/* Interpret and reduce every function. */
	if (!collect_cfi(&source->frames, &source->ranges, &source->policy, &line->model,
		coverage, err))
		return false;
	if (line->image.object)
		return pipeline_object_stages(line, err);
	/* PLT stubs that carry no CFI. */
	if (!plt_from_templates(&source->policy, &source->ranges, &line->model, coverage))
		return err_set_nomem(err);
	/* Sort; say repeated stubs as such. */
	if (!collect_finish(&line->model, err))
		return false;
	plt_mark_repeated(&line->image, &line->model);
	/* One FDE for neighbours with one equal row; or cut all of the text anew. */
	if (pipeline_shares(line) && !pipeline_optimize(line, err))
		return false;
	/* The model says it all from here on; encoding needs the memory. */
	source_forget(source);
	/* Encode; the place is not known yet. */
	line->encoding = (struct sf_encode_options){.version = line->options->format,
	    .pcrel = line->options->pcrel && line->options->format > 1,
	    .share = pipeline_shares(line),
	    .jobs = line->options->jobs};
	wr_init(&line->bytes, line->model.big_endian);
	if (!sf_encode(
		&line->model, &line->encoding, &line->bytes, &line->report.stats, err))
		return false;
	line->report.sframe_size = line->bytes.size;
	line->report.n_funcs = line->report.stats.n_funcs;
	line->report.n_rows = line->report.stats.n_rows;
	return true;
}

bool pipeline_make(struct pipeline *line, struct err *err)
{
	if (line->made)
		return true;
	/* What an attempt before this one left is of no use. */
	pipeline_unmake(line);
	line->made = pipeline_stages(line, err);
	if (!line->made)
		pipeline_unmake(line);
	return line->made;
}

bool pipeline_worthwhile(const struct pipeline *line, struct err *err)
{
	const struct coverage *coverage = &line->report.coverage;
	double wanted = line->options->min_coverage;

	if (line->model.n_funcs == 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "no function of this file can be described; --report says why");
	if (wanted >= 0.0 && coverage_percent(coverage) < wanted)
		return err_set(err, ERR_COVERAGE,
		    "%.4f%% of the code covered, %.4f%% demanded",
		    coverage_percent(coverage), wanted);
	return true;
}

/* Of an object, what could have had rows and was left out as a part of a function. */
static bool pipeline_judge(
    const struct pipeline *line, struct verify_result *result, struct err *err)
{
	if (result->missing_bytes == line->left_whole)
		result->missing_bytes = 0;
	return prove_judge(result, line->report.coverage.covered_bytes, err);
}

/* The file that was written: as a file, and by the rules of its readers. */
struct pipeline_check {
	const struct pipeline *line;
	struct image written;
	struct err err;
	bool ok;
	bool with_rules; /* in the same go */
};

static void pipeline_check(void *context)
{
	struct pipeline_check *check = context;
	const struct pipeline *line = check->line;

	if (line->image.object)
		check->ok = object_check(
		    &line->image, &line->object, &check->written, &check->err);
	else
		check->ok =
		    insert_check(&line->image, &line->plan, &check->written, &check->err);
	if (check->with_rules && check->ok)
		check->ok = lint_own_file(&check->written, &check->err);
}

/* What the rows say; without a proof there is time for the rules meanwhile. */
static bool pipeline_prove_rows(
    struct pipeline *line, const struct pipeline_check *check, struct err *err)
{
	struct verify_result result = {0};

	if (!line->options->prove)
		return check->with_rules || lint_own_file(&check->written, err);
	return prove_image(
		   &check->written, &check->written, line->options, &result, err) &&
	       pipeline_judge(line, &result, err);
}

/* The file that was written, opened from disk and read as a stranger would. */
static bool pipeline_prove(struct pipeline *line, struct err *err)
{
	struct pipeline_check check = {.line = line};
	struct task checking = {0};
	bool ok = true;

	newfile_written(&line->output);
	if (line->output.memory
		? !image_open_fd(line->output.fd, line->image.path, &check.written, err)
		: !image_open(line->output.temp, &check.written, err))
		return false;
	check.with_rules = !line->beside || line->options->prove;
	if (line->beside)
		task_start(&checking, pipeline_check, &check);
	else
		pipeline_check(&check);
	if (line->beside || check.ok)
		ok = pipeline_prove_rows(line, &check, err);
	task_wait(&checking);
	/* What is wrong with the file comes before what is wrong with its rows. */
	if (!check.ok)
		*err = check.err;
	image_close(&check.written);
	return ok && check.ok;
}

/* The section at its place in a copy of the file. */
static bool pipeline_insert(struct pipeline *line, struct err *err)
{
	/* Find a place, and fill in the starts for it. */
	if (!insert_plan(&line->image, line->bytes.size, line->options->method,
		&line->plan, err) ||
	    !sf_place(
		&line->model, &line->encoding, line->plan.sframe_addr, &line->bytes, err))
		return false;
	line->report.plan = &line->plan;
	/* The bytes say it all from here on; the proof needs the memory. */
	if (!line->keep) {
		sf_section_deinit(&line->model);
		line->made = false;
	}
	/* Write under a temporary name, prove that, then rename. */
	task_wait(&line->copying);
	if (!line->copied) {
		*err = line->copy_err;
		return false;
	}
	return insert_image(
		   &line->image, &line->plan, line->bytes.data, line->output.fd, err) &&
	       pipeline_prove(line, err) && pipeline_finish(line, line->image.fd, err);
}

/* The sections behind a copy of the object. */
static bool pipeline_append(struct pipeline *line, struct err *err)
{
	task_wait(&line->copying);
	if (!line->copied) {
		*err = line->copy_err;
		return false;
	}
	if (!object_write(
		&line->image, &line->model, &line->object, line->output.fd, err))
		return false;
	line->report.signature_void = line->object.signed_module;
	return pipeline_prove(line, err) && pipeline_finish(line, line->image.fd, err);
}

bool pipeline_section(struct pipeline *line, uint64_t addr, struct err *err)
{
	struct prove_bytes bytes = {.addr = addr};
	struct verify_result result = {0};

	if (line->image.object)
		return err_set(err, ERR_UNSUPPORTED,
		    "--section-only: a relocatable object's .sframe means nothing "
		    "without its relocations; convert the object");
	if (!pipeline_make(line, err) || !pipeline_worthwhile(line, err) ||
	    !sf_place(&line->model, &line->encoding, addr, &line->bytes, err))
		return false;
	bytes.data = line->bytes.data;
	bytes.size = line->bytes.size;
	if (!lint_own(bytes.data, bytes.size, bytes.addr, NULL, err))
		return false;
	return !line->options->prove ||
	       (prove_section(
		    &line->image, &line->image, &bytes, line->options, &result, err) &&
		   prove_judge(&result, line->report.coverage.covered_bytes, err));
}

bool pipeline_write_section(
    struct pipeline *line, uint64_t addr, const char *out, struct err *err)
{
	bool ok = pipeline_section(line, addr, err) &&
		  pipeline_output(line, out, -1, err) &&
		  newfile_write(&line->output, line->bytes.data, line->bytes.size, err) &&
		  pipeline_finish(line, -1, err);

	newfile_abort(&line->output);
	return ok;
}

bool pipeline_write(struct pipeline *line, const char *out, struct err *err)
{
	bool ok;

	if (!pipeline_refresh(line, err))
		return false;
	line->copied = false;
	line->copy_err = (struct err){0};
	pipeline_begin_copy(line, out);
	ok = pipeline_make(line, err) && pipeline_worthwhile(line, err) &&
	     (line->image.object ? pipeline_append(line, err)
				 : pipeline_insert(line, err));
	task_wait(&line->copying);
	if (!ok || !line->output.memory)
		newfile_abort(&line->output);
	return ok;
}

bool pipeline_remove(struct pipeline *line, const char *out, struct err *err)
{
	const struct image *image = pipeline_opened(line);
	struct undo undo;
	bool ok, found = false;

	ok = undo_find(image, &undo, &found, err);
	if (ok && !found)
		ok = err_set(err, ERR_NOTHING, "no .sframe that this tool put in");
	ok = ok && pipeline_output(line, out, image->fd, err) &&
	     undo_write(image, &undo, line->output.fd, err) &&
	     pipeline_finish(line, image->fd, err);
	if (!ok || !line->output.memory)
		newfile_abort(&line->output);
	return ok;
}

/* The starts are filled in for an address that no version is out of reach of. */
bool pipeline_costs(struct pipeline *line, struct err *err)
{
	struct wr *bytes = &line->bytes;
	uint64_t addr = line->model.n_funcs ? line->model.funcs[0].start : 0;
	struct sf_view view;

	report_costs_deinit(&line->report.costs);
	/* The linker lays them out anew. */
	if (line->image.object)
		return true;
	return sf_place(&line->model, &line->encoding, addr, bytes, err) &&
	       sf_view_open(bytes->data, bytes->size, addr, &view, err) &&
	       report_costs_read(&view, &line->report.costs, err);
}

void pipeline_unmake(struct pipeline *line)
{
	report_deinit(&line->report);
	line->report = (struct report){0};
	wr_deinit(&line->bytes);
	object_output_deinit(&line->object);
	sf_section_deinit(&line->model);
	line->model = (struct sf_section){0};
	source_deinit(&line->source);
	line->made = false;
}

void pipeline_deinit(struct pipeline *line)
{
	task_wait(&line->copying);
	newfile_abort(&line->output);
	pipeline_unmake(line);
	image_close(&line->image);
	image_close(&line->refreshed);
}
