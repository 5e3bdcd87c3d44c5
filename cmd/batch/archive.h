/* SPDX-License-Identifier: MIT */
/* The members of an archive, each as if it were a file. */
#ifndef CMD_BATCH_ARCHIVE_H
#define CMD_BATCH_ARCHIVE_H

#include "cmd/archive/archive.h"
#include "cmd/batch/file.h"

/* Where results go. */
struct batch_archive {
	const char *out;		   /* the new archive */
	const struct newfile_names *names; /* all names of it, or NULL */
	struct newfile_watch watch;
	/* Gets the object of a member, which it owns. NULL: the member is not ELF. */
	bool (*done)(void *context, json_t *object, struct eh2sframe_error *error);
	void *context;
	size_t n_new; /* members with other bytes; none: there is no new archive */
};

/*
 * Does what the verb says with each member. One that fails costs itself: it stays as it is, and its object says why.
 * Verbs that write put the new archive in its place at the end. False: they have written nothing.
 */
ATTR_MUST_CHECK bool batch_archive_work(const struct batch_job *job,
    struct archive *archive, struct batch_archive *to, struct eh2sframe_error *error);

#endif
