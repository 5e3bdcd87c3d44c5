/* SPDX-License-Identifier: MIT */
/* Objects of single files, and documents that they are written into one after the other. */
#include "cmd/report/report.h"

#include <stdlib.h>

/* The object of a file, in memory. */
struct single {
	char *text;
	size_t size;
	FILE *out;
};

static bool single_begin(struct single *single, struct eh2sframe_error *error)
{
	*single = (struct single){0};
	single->out = open_memstream(&single->text, &single->size);
	return single->out || cmd_fail_nomem(error);
}

/* The object as a value, if ok; frees the text. */
static json_t *single_end(struct single *single, bool ok, struct eh2sframe_error *error)
{
	json_t *file = NULL;

	if (single->out && fclose(single->out) != 0)
		ok = cmd_fail_nomem(error);
	if (ok) {
		file = json_loadb(single->text, single->size, 0, NULL);
		if (!file)
			cmd_fail_nomem(error);
	}
	free(single->text);
	return file;
}

json_t *report_of_result(
    struct eh2sframe_result *result, bool details, struct eh2sframe_error *error)
{
	struct single single;
	bool ok = single_begin(&single, error) &&
		  eh2sframe_result_json(
		      result, details, EH2SFRAME_DONE, print_text, single.out, error);

	return single_end(&single, ok, error);
}

json_t *report_of_check(
    const struct eh2sframe_check *check, bool lists, struct eh2sframe_error *error)
{
	struct single single;
	bool ok = single_begin(&single, error) &&
		  eh2sframe_check_json(
		      check, lists, EH2SFRAME_DONE, print_text, single.out, error);

	return single_end(&single, ok, error);
}

bool report_files_begin(struct report_files *files, struct print_out *out, bool html,
    struct eh2sframe_error *error)
{
	*files = (struct report_files){.out = out, .html = html};
	if (html)
		return report_document_init(&files->page, error);
	print_start(out);
	report_write_head(NULL, fputs, out->file);
	return true;
}

/* The place of the next object. */
static FILE *files_next(struct report_files *files)
{
	report_write_next(files->n_files++, files->out->file);
	return files->out->file;
}

/* Takes the object. */
static bool files_add_object(
    struct report_files *files, json_t *file, struct eh2sframe_error *error)
{
	bool ok = report_document_add(&files->page, file, true, error);

	json_decref(file);
	return ok;
}

/* As files_add_object, with its status added. NULL for file: error has the reason already. */
static bool files_add_with(struct report_files *files, json_t *file,
    enum eh2sframe_status status, struct eh2sframe_error *error)
{
	if (!file)
		return false;
	if (json_object_set_new(file, "status", json_integer((json_int_t)status)) < 0) {
		json_decref(file);
		return cmd_fail_nomem(error);
	}
	return files_add_object(files, file, error);
}

bool report_files_add(struct report_files *files, struct eh2sframe_result *result,
    enum eh2sframe_status status, struct eh2sframe_error *error)
{
	if (files->html)
		return files_add_with(
		    files, report_of_result(result, true, error), status, error);
	return eh2sframe_result_json(
	    result, true, status, print_text, files_next(files), error);
}

bool report_files_add_check(struct report_files *files,
    const struct eh2sframe_check *check, enum eh2sframe_status status,
    struct eh2sframe_error *error)
{
	if (files->html)
		return files_add_with(
		    files, report_of_check(check, true, error), status, error);
	return eh2sframe_check_json(
	    check, true, status, print_text, files_next(files), error);
}

bool report_files_fail(struct report_files *files, const char *path,
    const struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	json_t *file = report_file_failed(path, why);
	char *text;

	if (files->html)
		return files_add_object(files, file, error);
	text = report_value_dump(file);
	json_decref(file);
	if (!text)
		return cmd_fail_nomem(error);
	fputs(text, files_next(files));
	free(text);
	return true;
}

bool report_files_end(struct report_files *files, struct eh2sframe_error *error)
{
	bool ok = true;

	if (files->html) {
		ok = report_document_write(&files->page, files->out, true, error);
	} else {
		report_write_tail(files->n_files, files->out->file);
		ok = print_close(files->out, true, error);
	}
	report_files_deinit(files);
	return ok;
}

void report_files_deinit(struct report_files *files)
{
	report_document_deinit(&files->page);
}

bool report_single(struct print_out *out, struct eh2sframe_result *result,
    const char *path, const struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	struct report_files files;
	bool ok = report_files_begin(&files, out, false, error) &&
		  (result ? report_files_add(&files, result, EH2SFRAME_DONE, error)
			  : report_files_fail(&files, path, why, error));

	if (ok)
		return report_files_end(&files, error);
	report_files_deinit(&files);
	return print_close(out, false, error);
}
