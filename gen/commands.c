/* SPDX-License-Identifier: MIT */
/* --dump, --verify, --lint and --remove. */
#include "gen/commands.h"

#include <inttypes.h>

#include "gen/image.h"
#include "gen/lint.h"
#include "gen/output.h"
#include "gen/prove.h"
#include "gen/undo.h"
#include "sframe/print.h"

bool command_dump(
	const struct options *options, const char *path, FILE *out, struct err *err)
{
	struct image image = {0};
	struct sf_view view;
	const uint8_t *data;
	uint64_t addr;
	size_t size;
	bool ok;

	if (!image_open(path, &image, err))
		return false;
	ok = image_sframe(&image, &data, &size, &addr, err);
	if (ok && !data)
		ok = err_set(err, ERR_NOTHING, "no .sframe section");
	if (ok && options->n_paths > 1)
		fprintf(out, "%s:\n", path);
	ok = ok && sf_view_open(data, size, addr, &view, err) &&
	     sf_print(&view, ".sframe", out, err);
	image_close(&image);
	return ok;
}

struct command_verify_lines {
	const char *path;
	FILE *out;
};

static void command_verify_differ(void *context, const char *text)
{
	const struct command_verify_lines *lines = context;

	fprintf(lines->out, "%s: %s\n", lines->path, text);
}

static void command_verify_print(const struct options *options, const char *path,
	const struct verify_result *result, FILE *out)
{
	if (result->n_differences > VERIFY_MAX_TOLD)
		fprintf(out, "%s: %zu more differences\n", path,
			result->n_differences - VERIFY_MAX_TOLD);
	if (options->verbosity < 0)
		return;
	for (size_t i = 0; options->verbosity > 0 && i < result->n_missing; i++) {
		if (i == VERIFY_MAX_MISSING) {
			fprintf(out, "%s: %zu more functions with missing rows\n", path,
				result->n_missing - i);
			break;
		}
		fprintf(out, "%s: %s\n", path, result->missing[i]);
	}
	fprintf(out,
		"%s: %zu differences; %" PRIu64 " bytes of code agree with CFI, %" PRIu64
		" with a PLT template; %" PRIu64 " could have a row and have none",
		path, result->n_differences, result->agreed_bytes, result->template_bytes,
		result->missing_bytes);
	if (result->padding_bytes)
		fprintf(out, "; %" PRIu64 " bytes of padding between functions",
			result->padding_bytes);
	fputc('\n', out);
}

bool command_verify(
	const struct options *options, const char *path, FILE *out, struct err *err)
{
	struct image image = {0}, other = {0};
	struct command_verify_lines lines = {path, out};
	struct verify_result result = {
		.differ = command_verify_differ, .context = &lines};
	bool ok;

	ok = image_open(path, &image, err);
	if (ok && options->cfi_path && !image_open(options->cfi_path, &other, err))
		ok = err_prefix(err, "%s", options->cfi_path);
	ok = ok && prove_image(&image, options->cfi_path ? &other : &image, options,
			   &result, err);
	if (ok) {
		command_verify_print(options, path, &result, out);
		ok = prove_judge(&result, UINT64_MAX, err);
	}
	image_close(&other);
	image_close(&image);
	return ok;
}

static void command_lint_print(
	const char *path, const struct lint_result *result, FILE *out)
{
	for (int i = 0; i < LINT_N_RULES; i++) {
		if (!result->rules[i].times)
			continue;
		fprintf(out, "%s: %s: %s: broken at .sframe+0x%" PRIx64, path,
			lint_consumer_names(result->rules[i].broken),
			lint_rule_name((enum lint_rule)i), result->rules[i].off);
		if (result->rules[i].pc)
			fprintf(out, ", function at 0x%" PRIx64, result->rules[i].pc);
		if (result->rules[i].times > 1)
			fprintf(out, ", and %" PRIu64 " times more",
				result->rules[i].times - 1);
		fprintf(out, " (%s)\n", lint_rule_text((enum lint_rule)i));
	}
}

bool command_lint(
	const struct options *options, const char *path, FILE *out, struct err *err)
{
	struct image image = {0};
	struct lint_result result;
	struct sf_view view;
	const uint8_t *data;
	uint64_t addr;
	size_t size;
	bool ok;

	ok = image_open(path, &image, err) &&
	     image_sframe(&image, &data, &size, &addr, err);
	if (ok && !data)
		ok = err_set(err, ERR_NOTHING, "no .sframe section");
	ok = ok && sf_view_open(data, size, addr, &view, err);
	if (ok) {
		lint_section(&view, &image, options->lint, &result);
		command_lint_print(path, &result, out);
		if (result.n_broken)
			ok = err_set(err, ERR_MALFORMED, "%u %s of %s broken",
				result.n_broken, result.n_broken == 1 ? "rule" : "rules",
				lint_consumer_names(options->lint));
		else if (options->verbosity >= 0)
			fprintf(out, "%s: SFrame version %u keeps every rule of %s\n",
				path, view.version, lint_consumer_names(options->lint));
	}
	image_close(&image);
	return ok;
}

bool command_remove(
	const struct options *options, const char *in, const char *out, struct err *err)
{
	struct output output = {.fd = -1};
	struct image image = {0};
	struct undo undo;
	bool ok, found = false;

	(void)options;
	ok = image_open(in, &image, err) && undo_find(&image, &undo, &found, err);
	if (ok && !found)
		ok = err_set(err, ERR_NOTHING, "no .sframe that this tool put in");
	ok = ok && output_begin(out, image.fd, &output, err) &&
	     undo_write(&image, &undo, output.fd, err) &&
	     output_commit(&output, image.fd, err);
	output_abort(&output);
	image_close(&image);
	return ok;
}
