/* SPDX-License-Identifier: MIT */
/* Reports of single files: JSON as it is made, or objects for a document. */
#include "cmd/report/report.h"

#include <stdlib.h>

/* A document of one file, in memory. */
struct single {
	char *text;
	size_t size;
	FILE *out;
	struct eh2sframe_report *report;
};

static bool single_begin(struct single *single, struct eh2sframe_error *error)
{
	*single = (struct single){0};
	single->out = open_memstream(&single->text, &single->size);
	if (!single->out)
		return cmd_fail_nomem(error);
	single->report = eh2sframe_report_new(print_text, single->out, error);
	return single->report;
}

/* The object of the file, if ok; frees the document. */
static json_t *single_end(struct single *single, bool ok, struct eh2sframe_error *error)
{
	json_t *document = NULL, *file = NULL;

	ok = ok && eh2sframe_report_end(single->report, error);
	eh2sframe_report_free(single->report);
	if (single->out && fclose(single->out) != 0)
		ok = cmd_fail_nomem(error);
	if (ok) {
		document = json_loadb(single->text, single->size, 0, NULL);
		file = json_incref(json_array_get(json_object_get(document, "files"), 0));
		if (!file)
			cmd_fail_nomem(error);
	}
	json_decref(document);
	free(single->text);
	return file;
}

json_t *report_of_result(struct eh2sframe_result *result, struct eh2sframe_error *error)
{
	struct single single;
	bool ok = single_begin(&single, error) &&
		  eh2sframe_result_add_details(result, error) &&
		  eh2sframe_report_add(single.report, result, EH2SFRAME_DONE, error);

	return single_end(&single, ok, error);
}

json_t *report_of_check(
    const struct eh2sframe_check *check, bool lists, struct eh2sframe_error *error)
{
	struct single single;
	bool ok =
	    single_begin(&single, error) && eh2sframe_report_add_check(single.report,
						check, lists, EH2SFRAME_DONE, error);

	return single_end(&single, ok, error);
}

bool report_single(struct print_out *out, struct eh2sframe_result *result,
    const char *path, const struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	struct eh2sframe_report *report;
	bool ok;

	print_start(out);
	report = eh2sframe_report_new(print_text, out->file, error);
	ok = report &&
	     (result ? eh2sframe_result_add_details(result, error) &&
			   eh2sframe_report_add(report, result, EH2SFRAME_DONE, error)
		     : eh2sframe_report_add_failure(report, path, why, error)) &&
	     eh2sframe_report_end(report, error);
	eh2sframe_report_free(report);
	return print_close(out, ok, error);
}

bool report_files_begin(struct report_files *files, struct print_out *out, bool html,
    struct eh2sframe_error *error)
{
	*files = (struct report_files){.out = out, .html = html};
	if (html)
		return report_document_init(&files->page, error);
	print_start(out);
	files->json = eh2sframe_report_new(print_text, out->file, error);
	return files->json;
}

/* Takes the object. */
static bool files_add_object(
    struct report_files *files, json_t *file, struct eh2sframe_error *error)
{
	bool ok = report_document_add(&files->page, file, true, error);

	json_decref(file);
	return ok;
}

/* The same with its status; NULL: error has the reason already. */
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

	if (!files->html)
		return eh2sframe_result_add_details(result, error) &&
		       eh2sframe_report_add(files->json, result, status, error);
	return files_add_with(files, report_of_result(result, error), status, error);
}

bool report_files_add_check(struct report_files *files,
    const struct eh2sframe_check *check, enum eh2sframe_status status,
    struct eh2sframe_error *error)
{
	if (!files->html)
		return eh2sframe_report_add_check(
		    files->json, check, true, status, error);
	return files_add_with(files, report_of_check(check, true, error), status, error);
}

bool report_files_fail(struct report_files *files, const char *path,
    const struct eh2sframe_error *why, struct eh2sframe_error *error)
{
	if (!files->html)
		return eh2sframe_report_add_failure(files->json, path, why, error);
	return files_add_object(files, report_file_failed(path, why), error);
}

bool report_files_end(struct report_files *files, struct eh2sframe_error *error)
{
	bool ok;

	if (files->html) {
		ok = report_document_write(&files->page, files->out, true, error);
	} else {
		ok = eh2sframe_report_end(files->json, error);
		ok = print_close(files->out, ok, error);
	}
	report_files_deinit(files);
	return ok;
}

void report_files_deinit(struct report_files *files)
{
	eh2sframe_report_free(files->json);
	files->json = NULL;
	report_document_deinit(&files->page);
}
