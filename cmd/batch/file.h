/* SPDX-License-Identifier: MIT */
/*
 * One file of the tree: converted under a temporary name beside it, which then takes the
 * place of every name the file has there. So its names stay names of one file, and each
 * is at any time that of the old file or of the new one.
 */
#ifndef CMD_BATCH_FILE_H
#define CMD_BATCH_FILE_H

#include <jansson.h>

#include "cmd/batch/tree.h"

enum { BATCH_TOKEN_SIZE = 17 };

/* What a file is converted with. */
struct batch_job {
	const struct batch_tree *tree;
	const struct args *args;
	unsigned int threads;
	unsigned int worker; /* its number */
	/* Of the temporary names of the file in work, unknown to others until they exist:
	 * or somebody could put a link there. In memory that the pool sees. */
	char *token;
};

/*
 * Converts a file, or not, and says so as an object of the JSON report; NULL for want of
 * memory. Changes the current directory.
 */
json_t *batch_file_convert(const struct batch_job *job, size_t file);

/* Removes the temporary names of a file that a worker left behind. */
void batch_file_clean(const struct batch_job *job, size_t file);

#endif
