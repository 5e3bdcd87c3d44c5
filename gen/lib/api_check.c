/* SPDX-License-Identifier: MIT */
/* The public interface: the CFI of a file against its code. */
#include <stdlib.h>

#include "gen/lib/api.h"

struct eh2sframe_check *eh2sframe_check_file(
    const struct eh2sframe_file *file, struct eh2sframe_error *error)
{
	struct eh2sframe_check *check = NULL;
	struct err err = {0};
	bool ok = api_given(file, &err);

	if (ok) {
		check = calloc(1, sizeof(*check));
		ok = check || err_set_nomem(&err);
	}
	if (ok) {
		check->verbosity = file->options.verbosity;
		ok = report_check_make(&file->image, &file->options, &check->check, &err);
	}
	if (api_return(ok, &err, error))
		return check;
	eh2sframe_check_free(check);
	return NULL;
}

void eh2sframe_check_free(struct eh2sframe_check *check)
{
	if (check)
		report_check_deinit(&check->check);
	free(check);
}

bool eh2sframe_check_judge(
    const struct eh2sframe_check *check, struct eh2sframe_error *error)
{
	struct err err = {0};
	bool ok = api_given(check, &err) && report_check_judge(&check->check, &err);

	return api_return(ok, &err, error);
}

bool eh2sframe_check_print(const struct eh2sframe_check *check, eh2sframe_write_fn *write,
    void *context, struct eh2sframe_error *error)
{
	struct stream stream;
	struct err err = {0};
	bool ok = api_text_begin(check, &stream, write, context, &err);

	if (ok) {
		report_check_print(&check->check, check->verbosity, stream.file);
		ok = stream_end(&stream, true, &err);
	}
	return api_return(ok, &err, error);
}
