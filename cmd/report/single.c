/* SPDX-License-Identifier: MIT */
/* Reports of single files: JSON as it is made, or objects for a document. */
#include "cmd/report/report.h"

#include <stdlib.h>

json_t *report_of_result(struct eh2sframe_result *result, struct eh2sframe_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *document = NULL, *file = NULL;
	struct eh2sframe_report *report = NULL;
	bool ok;

	if (!out) {
		cmd_fail_nomem(error);
		return NULL;
	}
	report = eh2sframe_report_new(print_text, out, error);
	ok = report && eh2sframe_result_add_details(result, error) &&
	     eh2sframe_report_add(report, result, EH2SFRAME_DONE, error) &&
	     eh2sframe_report_end(report, error);
	eh2sframe_report_free(report);
	if (fclose(out) != 0)
		ok = cmd_fail_nomem(error);
	if (ok) {
		document = json_loadb(text, size, 0, NULL);
		file = json_incref(json_array_get(json_object_get(document, "files"), 0));
		if (!file)
			cmd_fail_nomem(error);
	}
	json_decref(document);
	free(text);
	return file;
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

bool report_files_add(struct report_files *files, struct eh2sframe_result *result,
    enum eh2sframe_status status, struct eh2sframe_error *error)
{
	json_t *file;

	if (!files->html)
		return eh2sframe_result_add_details(result, error) &&
		       eh2sframe_report_add(files->json, result, status, error);
	file = report_of_result(result, error);
	if (!file)
		return false;
	if (json_object_set_new(file, "status", json_integer((json_int_t)status)) < 0) {
		json_decref(file);
		return cmd_fail_nomem(error);
	}
	return files_add_object(files, file, error);
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
