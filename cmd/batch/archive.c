/* SPDX-License-Identifier: MIT */
/* Works on the members of an archive. */
#include "cmd/batch/archive.h"

#include <stdlib.h>

#include "cmd/batch/action.h"
#include "cmd/report/report.h"

/* A member on its way, and its new body if it gets one. */
struct archive_work {
	const struct batch_job *job;
	struct archive *archive;
	bool writes;
	void *bytes;
	size_t size;
};

/* Makes the object of a member that is one for a linker. NULL: memory ran out, or options
 * make no sense for any object. */
static json_t *archive_object(
    struct archive_work *work, size_t i, const char *name, struct eh2sframe_error *error)
{
	const struct args *args = work->job->args;
	struct eh2sframe_file *file =
	    archive_member_open(work->archive, i, name, args->options, error);
	const char *skip = file ? batch_action_skip(args, file) : NULL;
	json_t *report = NULL, *object;
	bool ok = file && !skip;

	error->status = file ? EH2SFRAME_DONE : error->status;
	if (ok && work->writes)
		ok = batch_action_make(
		    work->job, file, &work->bytes, &work->size, &report, error);
	else if (ok)
		ok = batch_action_look(work->job, file, &report, error);
	if (file && !skip && !ok && error->status == EH2SFRAME_NOTHING)
		skip = batch_action_nothing(args, file);
	eh2sframe_close(file);
	if (ok)
		return report_file_done(report, name, NULL);
	eh2sframe_free(work->bytes);
	work->bytes = NULL;
	object = error->status == EH2SFRAME_NO_MEMORY || error->status == EH2SFRAME_USAGE
		     ? NULL
		     : batch_file_outcome(work->job, name, skip, error, report);
	json_decref(report);
	return object;
}

/* Makes any member's object; json_null for one that is no ELF file. */
static json_t *archive_member(
    struct archive_work *work, size_t i, struct eh2sframe_error *error)
{
	char *name = archive_name(work->archive, i);
	json_t *object = NULL;

	cmd_fail_nomem(error);
	if (name && archive_kind(work->archive, i) == EH2SFRAME_KIND_RELOCATABLE)
		object = archive_object(work, i, name, error);
	else if (name && archive_kind(work->archive, i) == EH2SFRAME_KIND_OTHER_MACHINE)
		object = report_file_skipped(name, "other-machine");
	else if (name)
		object = json_null();
	free(name);
	return object;
}

static bool archive_members(struct archive_work *work, struct archive_writer *writer,
    json_t *members, struct eh2sframe_error *error)
{
	bool ok = true, any = false;

	for (size_t i = 0; ok && i < work->archive->n; i++) {
		work->bytes = NULL;
		/* The archive's own tables are not reported. */
		if (work->archive->members[i].kind == ARCHIVE_FILE)
			ok = json_array_append_new(
				 members, archive_member(work, i, error)) == 0;
		ok = ok && (!writer || archive_write_member(
					   writer, i, work->bytes, work->size, error));
		any |= work->bytes != NULL;
		eh2sframe_free(work->bytes);
	}
	return ok && (!writer || !any || archive_write_end(writer, error));
}

json_t *batch_archive_work(const struct batch_job *job, struct archive *archive,
    const char *out, struct eh2sframe_error *error)
{
	const enum verb verb = job->args->verb;
	struct archive_work work = {.job = job,
	    .archive = archive,
	    .writes = verb == VERB_CONVERT || verb == VERB_REMOVE};
	struct archive_writer writer = {0};
	json_t *members = json_array(), *object = NULL;
	const bool made = work.writes && !job->args->dry_run;
	bool ok = members || cmd_fail_nomem(error);

	if (ok && archive->thin && work.writes)
		ok = cmd_fail(error, EH2SFRAME_INPUT,
		    "a thin archive has only the names of its members; name their files "
		    "instead, which ar t lists");
	ok = ok &&
	     (!made || archive_write_begin(&writer, archive, out, &job->watch, error)) &&
	     archive_members(&work, made ? &writer : NULL, members, error);
	newfile_abort(&writer.output);
	if (ok && !(object = json_pack(
			"{si sO}", "status", EH2SFRAME_DONE, "members", members)))
		cmd_fail_nomem(error);
	json_decref(members);
	return object;
}
