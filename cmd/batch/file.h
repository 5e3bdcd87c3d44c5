/* SPDX-License-Identifier: MIT */
/*
 * Converts one file of the tree, or gives back its original. The result takes the place of every
 * name that the file has in the tree. So its names stay links of each other, and each is at any
 * time the old or the new file.
 */
#ifndef CMD_BATCH_FILE_H
#define CMD_BATCH_FILE_H

#include <jansson.h>

#include "base/newfile.h"
#include "cmd/batch/tree.h"
#include "cmd/report/gate.h"

struct sandbox;

/* Inputs of the work on a file. */
struct batch_job {
	const struct batch_tree *tree;
	const struct args *args;
	const struct report_gate *gate; /* --baseline */
	const struct sandbox *sandbox;	/* of the workers; NULL: none */
	unsigned int threads;
	unsigned int worker;	    /* its number */
	struct newfile_watch watch; /* of archives */
};

/*
 * Does what args ask for with a file, or skips it. Returns its object of the JSON report as
 * text, which the caller frees; NULL when memory runs out. The text is made before a new
 * file takes its place. Changes the current directory.
 */
char *batch_file_work(const struct batch_job *job, size_t file);

/* Returns the object of a file that was passed over, for the reason skip or for want of anything to do, or that
 * failed. */
json_t *batch_file_outcome(const struct batch_job *job, const char *path,
    const char *skip, struct eh2sframe_error *error, const json_t *report);

/*
 * Removes the temporary names that a worker left behind beside those of a file; temporary is the
 * first of them, or "". Nothing else is removed, whatever the worker wrote there.
 */
void batch_file_clean(const struct batch_tree *tree, size_t file, const char *temporary);

#endif
