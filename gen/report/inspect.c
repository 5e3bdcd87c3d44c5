/* SPDX-License-Identifier: MIT */
/* Looks at the section that a file has: dump, verify and lint. */
#include "gen/report/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "gen/report/check_code.h"
#include "gen/report/eh_frame.h"
#include "gen/verify/lint.h"
#include "gen/elf/object/object.h"
#include "gen/verify/prove.h"
#include "sframe/dump.h"

/* Prints which sections the made-up addresses of an object stand for. */
static void report_places(const struct image *image, FILE *out)
{
	const struct object *object = image->object;

	fprintf(out, "Sections of code, at made-up addresses:\n");
	for (size_t i = 0; i < object->n_places; i++) {
		const struct image_section *section =
		    &image->sections[object->places[i].section];

		if (section->hdr.sh_flags & SHF_EXECINSTR)
			fprintf(out, "    %016" PRIx64 "  %s\n", object->places[i].addr,
			    section->name);
	}
	fputc('\n', out);
}

/* Opens the section, and tells of others behind it, which no reader sees. */
static bool report_view(
    const struct image *image, struct sf_view *view, FILE *out, struct err *err)
{
	struct err others = {0};

	if (!lint_view(image, view, err))
		return false;
	sf_behind(view, &others);
	if (others.kind)
		fprintf(
		    out, "%s: %s; %s\n", image->shown, others.text, lint_advice(image));
	return true;
}

bool report_dump(const struct image *image, FILE *out, struct err *err)
{
	struct sf_view view;

	if (!report_view(image, &view, out, err))
		return false;
	if (image->object)
		report_places(image, out);
	return sf_dump(&view, ".sframe", out, err) || lint_advise(image, err);
}

static void report_verify_print(const struct options *options, const char *path,
    const struct verify_result *result, FILE *out)
{
	if (result->n_differences > result->n_texts)
		fprintf(out, "%s: %zu more difference%s\n", path,
		    result->n_differences - result->n_texts,
		    num_s(result->n_differences - result->n_texts));
	if (options->verbosity < 0)
		return;
	for (size_t i = 0; options->verbosity > 0 && i < result->n_missing; i++) {
		if (i == result->n_missing_texts) {
			fprintf(out, "%s: %zu more function%s with missing rows\n", path,
			    result->n_missing - i, num_s(result->n_missing - i));
			break;
		}
		fprintf(out, "%s: %s\n", path, result->missing[i]);
	}
	fprintf(out, "%s: %zu difference%s; ", path, result->n_differences,
	    num_s(result->n_differences));
	report_held(&result->held, out);
	fprintf(
	    out, "; %" PRIu64 " could have a row but have none", result->missing_bytes);
	if (result->padding_bytes)
		fprintf(out, "; %" PRIu64 " byte%s of padding between functions",
		    result->padding_bytes, num_s(result->padding_bytes));
	if (result->held.skipped_bytes)
		fprintf(out,
		    "; %" PRIu64 " byte%s not compared with libdwarf, because their "
		    "functions have too many rows",
		    result->held.skipped_bytes, num_s(result->held.skipped_bytes));
	if (result->held.unlisted_bytes)
		fprintf(out,
		    "; %" PRIu64 " byte%s not compared with libdwarf, which does not "
		    "list their FDEs",
		    result->held.unlisted_bytes, num_s(result->held.unlisted_bytes));
	fputc('\n', out);
}

/* CFI of another program would only give thousands of differences. A file without a
 * build-id may be any. */
static bool report_same_program(
    const struct image *image, const struct image *cfi_image, struct err *err)
{
	struct image_build_id id, cfi_id;

	if (image == cfi_image || !image_build_id(image, &id) ||
	    !image_build_id(cfi_image, &cfi_id) ||
	    (id.size == cfi_id.size && memcmp(id.bytes, cfi_id.bytes, id.size) == 0))
		return true;
	return err_set(err, ERR_UNSUPPORTED,
	    "--cfi=%s is another program: its build-id differs; name the file that was "
	    "converted or its original",
	    cfi_image->path);
}

static bool report_verify_by_code(const struct image *image,
    const struct image *cfi_image, const struct sf_view *view,
    const struct options *options, FILE *out, struct err *err)
{
	struct report_check check;
	bool ok = report_check_make_section(image, cfi_image, view, options, &check, err);

	if (ok)
		report_check_print(&check, options->verbosity, out);
	ok = ok && report_check_judge(&check, err);
	report_check_deinit(&check);
	return ok;
}

bool report_verify(const struct image *image, const struct image *cfi_image,
    const struct options *options, FILE *out, struct err *err)
{
	struct verify_result result = {0};
	struct options named = *options;
	struct sf_view view;
	bool ok;

	if (!report_same_program(image, cfi_image, err) ||
	    !report_view(image, &view, out, err))
		return false;
	if (options->witness == WITNESS_CODE)
		return report_verify_by_code(image, cfi_image, &view, options, out, err);
	/* Differences are told with the names of functions. */
	named.names = true;
	ok = prove_section(image, cfi_image, &view, &named, &result, err);
	for (size_t i = 0; i < result.n_texts; i++)
		fprintf(out, "%s: %s\n", image->shown, result.texts[i]);
	if (ok)
		report_verify_print(options, image->shown, &result, out);
	ok = ok && prove_judge(&result, NULL, err);
	verify_result_deinit(&result);
	return ok;
}

static void report_lint_print(
    const char *path, const struct lint_result *result, FILE *out)
{
	char words[READER_WORDS_SIZE];
	struct err rule;

	for (int i = 0; i < LINT_N_RULES; i++) {
		if (!result->rules[i].times)
			continue;
		lint_tell(result, (enum lint_rule)i, &rule);
		fprintf(out, "%s: %s: %s", path,
		    reader_words(result->rules[i].broken, words), rule.text);
		if (result->rules[i].pc)
			fprintf(out, ", function at 0x%" PRIx64, result->rules[i].pc);
		if (result->rules[i].times > 1)
			fprintf(out, ", and at %" PRIu64 " more place%s",
			    result->rules[i].times - 1,
			    num_s(result->rules[i].times - 1));
		fputc('\n', out);
	}
}

bool report_lint(const struct image *image, const char *reader,
    const struct options *options, FILE *out, struct err *err)
{
	const struct reader *named = reader_find(reader);
	char words[READER_WORDS_SIZE];
	struct lint_result result;
	struct sf_view view;
	unsigned int readers;

	if (!strcmp(reader, READER_EH_FRAME))
		return report_lint_eh_frame(image, options->verbosity, out, err);
	if (!named && strcmp(reader, "all") != 0)
		return err_set(err, ERR_USAGE,
		    "%s: unknown reader; eh2sframe-sframe(7) lists them under READERS",
		    reader);
	if (!lint_view(image, &view, err))
		return false;
	readers = named ? named->bit : lint_readers_of(&view);
	if (!readers)
		readers = LINT_ALL;
	lint_section(&view, image, readers, false, &result);
	report_lint_print(image->shown, &result, out);
	if (result.n_broken)
		return err_set(err, ERR_MALFORMED, "%u rule%s of %s broken; %s",
		    result.n_broken, num_s(result.n_broken), reader_words(readers, words),
		    lint_advice(image));
	if (options->verbosity >= 0)
		fprintf(out, "%s: SFrame version %u keeps every rule of %s\n",
		    image->shown, view.version, reader_words(readers, words));
	return true;
}
