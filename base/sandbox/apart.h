/* SPDX-License-Identifier: MIT */
/*
 * Work on files that anybody can write, by a process of its own in the sandbox, with limits of memory and time. Its answer is bytes; check
 * them as those of a stranger.
 */
#ifndef BASE_SANDBOX_APART_H
#define BASE_SANDBOX_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"

struct apart_limits {
	uint64_t memory; /* bytes, besides those that this process has */
	unsigned int
	    seconds; /* of processor time; three times as many by the clock, and 5 without any */
};

/* Bytes of one answer: no table of an honest file is larger. */
#define APART_MAX (UINT64_C(1) << 30)

enum { APART_MAX_FILES = 4 };

/* The work: files are open at descriptors APART_FIRST_FILE and up. It writes to out by apart_write. */
enum { APART_FIRST_FILE = 3 };
typedef bool apart_work_fn(void *context, int out);
/* Opens more, in the process, before it gives up its rights: a file system that a user serves can let an open wait for ever. */
typedef void apart_open_fn(void *context);

/* The answer of a process. */
struct apart_answer {
	const uint8_t *bytes; /* nobody writes to them any more */
	size_t size;
	/* Known without an answer, too. */
	uint64_t ns; /* of its processor, and of waiting */
	pid_t left;  /* it cannot be ended, and is for waitpid; 0: it has ended */
};

struct apart_job {
	const int *files; /* open ones, which stay the caller's; -1: none */
	size_t n_files;
	apart_open_fn *open; /* or NULL */
	apart_work_fn *work;
	void *context;
	struct apart_limits limits;
	size_t least; /* bytes of the shortest answer */
};

/*
 * Lets a process work. End with apart_free. One that waits for a file system and cannot be killed is left behind, without the
 * caller's descriptors. ERR_LIMIT: it took too much, crashed, or work returned false; ERR_IO, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool apart_run(
    const struct apart_job *job, struct apart_answer *answer, struct err *err);
void apart_free(struct apart_answer *answer); /* accepts a zeroed one */

uint64_t apart_ns(const struct timeval *time);
bool apart_write(int out, const void *bytes, size_t size);
/* n bytes of an answer in memory of their own; NULL for none, and when memory runs out. */
void *apart_take(const uint8_t **at, uint64_t n);

#endif
