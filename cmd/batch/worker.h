/* SPDX-License-Identifier: MIT */
/* One process of the pool, as it sees itself and as the pool sees it. */
#ifndef CMD_BATCH_WORKER_H
#define CMD_BATCH_WORKER_H

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/batch/file.h"
#include "base/sandbox/sandbox.h"

/* Not the index of a file. */
#define BATCH_NO_FILE UINT32_MAX

/* In memory that the pool and its workers share. The pool believes no word of it: a damaged file
 * may have taken its worker over. */
struct batch_shared {
	atomic_uint next; /* the next file */
	unsigned int last;
	struct batch_record {
		atomic_uint file;	      /* the worker's file, or BATCH_NO_FILE */
		char temporary[NAME_MAX + 1]; /* the library's file, while it exists */
		struct sandbox_state sandbox; /* of the worker */
	} records[];			      /* one per worker */
};

struct batch_worker {
	pid_t pid;   /* 0: none */
	int fd;	     /* of the pipe */
	bool broken; /* was killed for what it sent */
	/* The part of an incomplete message that has arrived. */
	unsigned char *bytes;
	size_t n, cap;
};

/* The head of a message: a file, and the size of the text that follows. */
struct batch_message {
	size_t file, size;
};

/* No report is as large. */
#define BATCH_MAX_TEXT ((size_t)1 << 31)

/*
 * Starts worker number job->worker with the signal mask signals. ERR_IO without a pipe
 * or process.
 */
ATTR_MUST_CHECK bool batch_worker_start(struct batch_worker *worker,
    const struct batch_job *job, struct batch_shared *shared, const sigset_t *signals,
    struct eh2sframe_error *err);

/* Reads what there is, and sets *ended at its end. Waits only for the first byte. */
ATTR_MUST_CHECK bool batch_worker_read(
    struct batch_worker *worker, bool *ended, struct eh2sframe_error *err);

/* True if there is a complete message: *report is its text as an object, which the caller owns; NULL
 * when memory runs out. Kills the worker after a message that no worker sends. */
bool batch_worker_next(struct batch_worker *worker, size_t *file, json_t **report);

/* Ends a worker that does not keep to the protocol, and forgets what it sent. */
void batch_worker_kill(struct batch_worker *worker);

/* Waits for the worker's end. Returns the status of waitpid; EH2SFRAME_NO_MEMORY means that
 * memory ran out. */
int batch_worker_wait(struct batch_worker *worker);

#endif
