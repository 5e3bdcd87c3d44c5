/* SPDX-License-Identifier: MIT */
/*
 * Processes that convert the files of a tree. Each takes the next file when it is done
 * with one; what became of it comes back through a pipe.
 */
#ifndef CMD_BATCH_POOL_H
#define CMD_BATCH_POOL_H

#include "cmd/batch/bar.h"
#include "cmd/batch/file.h"

struct batch_pool {
	struct batch_job job; /* tree, options, token; the rest is the pool's */
	struct batch_bar *bar;
	/* Takes the object of a file, which stays the pool's. */
	bool (*done)(
	    void *context, size_t file, json_t *report, struct eh2sframe_error *err);
	void *context;
};

/*
 * Converts files first to last (exclusive) of the tree by at most n_workers processes of
 * jobs threads each. Returns early, with no process and no temporary file left, when a
 * signal came. False when done was, or when there are no processes to be had.
 */
CMD_CHECKED bool batch_pool_run(struct batch_pool *pool, size_t first, size_t last,
    unsigned int n_workers, unsigned int jobs, struct eh2sframe_error *err);

#endif
