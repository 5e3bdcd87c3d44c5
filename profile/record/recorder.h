/* SPDX-License-Identifier: MIT */
/* A recording: rings are emptied by one thread, stacks are walked by another. */
#ifndef PROFILE_RECORD_RECORDER_H
#define PROFILE_RECORD_RECORDER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/perfdata/write.h"
#include "profile/record/names.h"
#include "profile/record/perf.h"
#include "profile/record/queue.h"
#include "profile/record/args.h"
#include "profile/stacks/unwinder.h"

struct recorder {
	const struct record_args *args;
	struct perf perf;
	struct queue queue;
	struct perfdata_writer writer;
	struct unwinder unwinder;
	struct names names;
	int fd;			 /* of the recording */
	bool is_fresh, was_open; /* its file is new, and empty; others could read it */
	int signals;		 /* signalfd */
	int processes[RECORD_MAX_PIDS]; /* pidfds of -p, or -1 */
	pthread_t walker;
	struct err walk_err; /* of that thread, and of opening events of threads */
	/* ns of processor time that samples stand for, and that were used: by the command and all that was
	 * waited for, or the processes of -p; 0: it is not known. Without the kernel's where that is not
	 * recorded. */
	uint64_t sampled, used;
	uint64_t used_by[RECORD_MAX_PIDS]; /* of each process of -p, also before */
	uint64_t n_orphans;		   /* that have ended; nobody waited for them */
	/* The command. */
	pid_t child;
	/* From before: which signals were blocked, and what was done at SIGCHLD and SIGXFSZ. */
	sigset_t mask;
	sighandler_t at_child, at_size;
	unsigned int n_interrupts;
	/* Sockets: of this process, and the command's. A byte lets it run; its errno comes when it cannot be run. */
	int talk[2];
	int status;	/* of wait */
	int cannot_run; /* the status to exit with instead; 0: it ran */
};

/* Each step. ERR_IO, ERR_NOMEM, ERR_USAGE. */
ATTR_MUST_CHECK bool recorder_begin(
    struct recorder *recorder, const struct record_args *args, struct err *err);
/* Records until the command or process ends, the time is over, or a signal comes. Then call recorder_end. */
ATTR_MUST_CHECK bool recorder_run(struct recorder *recorder, struct err *err);
ATTR_MUST_CHECK bool recorder_end(struct recorder *recorder, struct err *err);
/* Ends a command that does not run yet, and waits for one that runs. Descriptors and rings last as long as the program. */
void recorder_free(struct recorder *recorder);

/* True if the recording ends, as signals say, or the command has just ended. */
bool recorder_signals(struct recorder *recorder);

/*
 * proc.c: processes that run when a recording begins, as records that the kernel would have given. Calls seen for each number that is the
 * name of something in a directory: processes in /proc, threads in /proc/PID/task. false: it cannot be read, or seen returned false.
 */
bool proc_list(const char *dir, bool (*seen)(void *context, pid_t id), void *context);
/* Puts the threads and the mapped code of n processes, or of all where n is 0; with data all mappings. Nothing of those that are gone.
 * false: the queue is closed. */
bool proc_known(const pid_t *pids, size_t n, bool data, struct queue *queue);
/* ns of processor time that a process has used, in the kernel only if so; 0: it is gone. */
uint64_t proc_used(pid_t pid, bool kernel);
/* Puts where the kernel's code is, as perf names it. */
void proc_kernel(struct queue *queue);

/* recorder_command.c: starts the command, which waits. */
ATTR_MUST_CHECK bool recorder_command(struct recorder *recorder, struct err *err);
/* Lets it run. false: it cannot; cannot_run is the status to exit with. */
ATTR_MUST_CHECK bool recorder_command_go(struct recorder *recorder, struct err *err);
/* Ends one that does not run yet, and waits for one that runs. Signals are passed on meanwhile. */
void recorder_command_drop(struct recorder *recorder);

/* recorder_walk.c: the thread that walks stacks. */
void *recorder_walk(void *context);
/* True if the summary says what a picture of the recording does not show. */
bool recorder_is_partial(const struct recorder *recorder);
/* The line of the summary on standard error, without its end, for a recording or picture of this name. */
void recorder_summary(const struct recorder *recorder, const char *name);

#endif
