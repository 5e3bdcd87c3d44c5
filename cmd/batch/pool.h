/* SPDX-License-Identifier: MIT */
/*
 * Processes that convert the files of a tree. Each takes the next file when it has
 * finished one, and sends the result through a pipe.
 */
#ifndef CMD_BATCH_POOL_H
#define CMD_BATCH_POOL_H

#include "cmd/batch/bar.h"
#include "cmd/batch/file.h"
#include "base/sandbox/sandbox.h"

struct batch_pool {
	struct batch_job job; /* tree, options, token; the rest is the pool's */
	struct batch_bar *bar;
	/* Gets the object of a file; the pool owns it. NULL: memory ran out. */
	bool (*done)(
	    void *context, size_t file, json_t *report, struct eh2sframe_error *err);
	void *context;
	struct sandbox_state sandbox; /* of the workers; for batch_pool_run to set */
};

/*
 * Converts files first to last (exclusive) of the tree with at most n_workers processes
 * of jobs threads each. When a signal came it returns early, with no process and no
 * temporary file left. False when done failed, or when no process can be started.
 */
ATTR_MUST_CHECK bool batch_pool_run(struct batch_pool *pool, size_t first, size_t last,
    unsigned int n_workers, unsigned int jobs, struct eh2sframe_error *err);

#endif
