/* SPDX-License-Identifier: MIT */
/* Processes that run when a recording begins, as records that the kernel would have given, in a queue. */
#ifndef PROFILE_RECORD_PROC_H
#define PROFILE_RECORD_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/record/queue.h"

/* Calls seen for each number that is the name of something in a directory: processes in
 * /proc, threads in /proc/PID/task. false: it cannot be read, or seen returned false. */
bool proc_list(const char *dir, bool (*seen)(void *context, pid_t id), void *context);

/* The threads and the mapped code of n processes, or of all where n is 0; with data all mappings. Nothing of those that are gone.
 * false: the queue is closed. */
bool proc_known(const pid_t *pids, size_t n, bool data, struct queue *queue);

/* ns of processor time that a process has used, in the kernel only if so; 0: it is gone. */
uint64_t proc_used(pid_t pid, bool kernel);

/* Where the kernel's code is, as perf names it. */
void proc_kernel(struct queue *queue);

#endif
