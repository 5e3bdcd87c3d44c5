/* SPDX-License-Identifier: MIT */
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

/* The object of a member that is one for a linker. NULL: memory ran out. */
static json_t *archive_object(struct archive_work *work, size_t i, const char *name)
{
	const struct args *args = work->job->args;
	struct eh2sframe_error error = {0};
	struct eh2sframe_file *file =
	    archive_member_open(work->archive, i, name, args->options, &error);
	const char *skip = file ? batch_action_skip(args, file) : NULL;
	json_t *report = NULL, *object;
	bool ok = file && !skip;

	if (ok && work->writes)
		ok = batch_action_make(
		    work->job, file, &work->bytes, &work->size, &report, &error);
	else if (ok)
		ok = batch_action_look(work->job, file, &report, &error);
	eh2sframe_close(file);
	if (ok)
		return report_file_done(report, name, NULL);
	eh2sframe_free(work->bytes);
	work->bytes = NULL;
	if (args->verb == VERB_REMOVE && error.status == EH2SFRAME_NOTHING)
		skip = "other-sframe";
	object = error.status == EH2SFRAME_NO_MEMORY
		     ? NULL
		     : batch_file_outcome(work->job, name, skip, &error, report);
	json_decref(report);
	return object;
}

/* Adds member i to the list. False: memory ran out. */
static bool archive_add(struct archive_work *work, size_t i, json_t *members)
{
	char *name = archive_name(work->archive, i);
	json_t *object = NULL;

	/* The archive's own tables are nothing to speak of. */
	if (name && work->archive->members[i].kind != ARCHIVE_FILE) {
		free(name);
		return true;
	}
	if (name && archive_kind(work->archive, i) == EH2SFRAME_KIND_RELOCATABLE)
		object = archive_object(work, i, name);
	else if (name && archive_kind(work->archive, i) == EH2SFRAME_KIND_OTHER_MACHINE)
		object = report_file_skipped(name, "other-machine");
	else if (name)
		object = json_null();
	free(name);
	return json_array_append_new(members, object) == 0;
}

static bool archive_members(struct archive_work *work, struct archive_writer *writer,
    json_t *members, struct eh2sframe_error *error)
{
	bool ok = true, any = false;

	for (size_t i = 0; ok && i < work->archive->n; i++) {
		work->bytes = NULL;
		if (!archive_add(work, i, members))
			ok = cmd_fail_nomem(error);
		else if (writer)
			ok = archive_write_member(
			    writer, i, work->bytes, work->size, error);
		any |= work->bytes != NULL;
		eh2sframe_free(work->bytes);
	}
	return ok && (!writer || !any || archive_write_end(writer, error));
}

json_t *batch_archive_work(const struct batch_job *job, struct archive *archive,
    const char *out, const struct newfile_watch *watch, struct eh2sframe_error *error)
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
	ok = ok && (!made || archive_write_begin(&writer, archive, out, watch, error)) &&
	     archive_members(&work, made ? &writer : NULL, members, error);
	newfile_abort(&writer.output);
	if (ok && !(object = json_pack("{sO}", "members", members)))
		cmd_fail_nomem(error);
	json_decref(members);
	return object;
}
