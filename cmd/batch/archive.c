/* SPDX-License-Identifier: MIT */
#include "cmd/batch/archive.h"

#include <stdlib.h>

#include "cmd/batch/action.h"
#include "cmd/report/report.h"

/* Whether the verb makes new files. */
static bool archive_writes(const struct args *args)
{
	return args->verb == VERB_CONVERT || args->verb == VERB_REMOVE;
}

/* A new body of a member, if there is one. */
struct archive_body {
	void *bytes;
	size_t size;
};

/* The object of member i, which is one for a linker. NULL: memory ran out. */
static json_t *archive_object(const struct batch_job *job, struct archive *archive,
    size_t i, const char *name, struct archive_body *body)
{
	const struct args *args = job->args;
	struct eh2sframe_error error = {0};
	struct eh2sframe_file *file =
	    archive_member_open(archive, i, name, args->options, &error);
	const char *skip = file ? batch_action_skip(args, file) : NULL;
	json_t *report = NULL, *object;
	bool ok = file && !skip &&
		  (archive_writes(args) ? batch_action_make(job, file, &body->bytes,
					      &body->size, &report, &error)
					: batch_action_look(job, file, &report, &error));

	eh2sframe_close(file);
	if (ok)
		return report_file_done(report, name, NULL);
	eh2sframe_free(body->bytes);
	body->bytes = NULL;
	if (file && args->verb == VERB_REMOVE && error.status == EH2SFRAME_NOTHING)
		skip = "other-sframe";
	object = error.status == EH2SFRAME_NO_MEMORY
		     ? NULL
		     : batch_file_outcome(job, name, skip, &error, report);
	json_decref(report);
	return object;
}

static bool archive_member(const struct batch_job *job, struct archive *archive, size_t i,
    struct batch_archive *to, struct archive_body *body, struct eh2sframe_error *error)
{
	enum eh2sframe_kind kind;
	json_t *object = NULL;
	char *name;

	/* The archive's own tables are no members to speak of. */
	if (archive->members[i].kind != ARCHIVE_FILE)
		return true;
	if (!archive_member_kind(archive, i, &kind, error))
		return false;
	name = archive_name(archive, i);
	if (name && kind == EH2SFRAME_KIND_RELOCATABLE)
		object = archive_object(job, archive, i, name, body);
	else if (name && kind == EH2SFRAME_KIND_OTHER_MACHINE)
		object = report_file_skipped(name, "other-machine");
	free(name);
	if (!object && (!name || kind == EH2SFRAME_KIND_RELOCATABLE ||
			   kind == EH2SFRAME_KIND_OTHER_MACHINE))
		return cmd_fail_nomem(error);
	return to->done(to->context, object, error);
}

bool batch_archive_work(const struct batch_job *job, struct archive *archive,
    struct batch_archive *to, struct eh2sframe_error *error)
{
	const bool writes = archive_writes(job->args) && !job->args->dry_run;
	struct archive_writer writer = {0};
	bool ok = true;

	if (archive->thin && archive_writes(job->args))
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "a thin archive has only the names of its members; name their files "
		    "instead (ar t lists them)");
	if (writes)
		ok = archive_write_begin(
		    &writer, archive, to->out, to->names, &to->watch, error);
	for (size_t i = 0; ok && i < archive->n; i++) {
		struct archive_body body = {0};

		ok = archive_member(job, archive, i, to, &body, error) &&
		     (!writes ||
			 archive_write_member(&writer, i, body.bytes, body.size, error));
		to->n_new += body.bytes != NULL;
		eh2sframe_free(body.bytes);
	}
	if (ok && writes && to->n_new)
		ok = archive_write_end(&writer, error);
	archive_write_free(&writer);
	return ok;
}
