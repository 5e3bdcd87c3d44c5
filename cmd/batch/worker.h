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

/* Not the index of a file. */
#define BATCH_NO_FILE UINT32_MAX

/* In memory that the pool and its workers share. */
struct batch_shared {
	atomic_uint next; /* file to be taken */
	unsigned int last;
	struct batch_record {
		atomic_uint file;	      /* that the worker has, or BATCH_NO_FILE */
		char temporary[PATH_MAX];     /* of the library, while there is one */
		char token[BATCH_TOKEN_SIZE]; /* of its job */
	} records[];			      /* one per worker */
};

struct batch_worker {
	pid_t pid;	 /* 0: none */
	int fd;		 /* of the pipe */
	size_t reported; /* the last file that it sent a report of */
	/* What came of a message that is not complete yet. */
	unsigned char *bytes;
	size_t n, cap;
};

/* A message: a file, and so many bytes of text. */
struct batch_message {
	size_t file, size;
};

/*
 * Starts worker number job->worker. signals is the mask it is to have. ERR_IO without a
 * pipe or process.
 */
CMD_CHECKED bool batch_worker_start(struct batch_worker *worker,
    const struct batch_job *job, struct batch_shared *shared, const sigset_t *signals,
    struct eh2sframe_error *err);

/*
 * Reads what there is; *ended when it is over. Waits for nothing but the first byte.
 */
CMD_CHECKED bool batch_worker_read(
    struct batch_worker *worker, bool *ended, struct eh2sframe_error *err);

/* The next complete message: its text as an object, which the caller owns, NULL: none. */
json_t *batch_worker_next(struct batch_worker *worker, size_t *file);

/* Waits for its end. Returns what waitpid says of it; EH2SFRAME_IO is for want of memory.
 */
int batch_worker_wait(struct batch_worker *worker);

#endif
