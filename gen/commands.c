/* SPDX-License-Identifier: MIT */
/* --dump, --verify and --remove. */
#include "gen/commands.h"

#include <inttypes.h>

#include "gen/image.h"
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

static void command_verify_print(const struct options *options, const char *path,
	const struct verify_result *result, FILE *out)
{
	for (size_t i = 0; i < result->n_texts; i++)
		fprintf(out, "%s: %s\n", path, result->texts[i]);
	if (result->n_differences > result->n_texts)
		fprintf(out, "%s: %zu more differences\n", path,
			result->n_differences - result->n_texts);
	if (options->verbosity < 0)
		return;
	fprintf(out,
		"%s: %zu differences; %" PRIu64 " bytes of code agree with CFI, %" PRIu64
		" with a PLT template; %" PRIu64 " could have a row and have none\n",
		path, result->n_differences, result->agreed_bytes, result->template_bytes,
		result->missing_bytes);
}

bool command_verify(
	const struct options *options, const char *path, FILE *out, struct err *err)
{
	struct image image = {0}, other = {0};
	struct verify_result result;
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
