/* SPDX-License-Identifier: MIT */
/*
 * Work that runs beside the caller's. A task owns what it writes until the caller has
 * waited for it. When no thread can be started, the caller does the work itself, so
 * only the time depends on threads.
 */
#ifndef BASE_TASK_H
#define BASE_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is a task that was never started. */
struct task {
	void (*run)(void *context);
	void *context;
	pthread_t thread;
	bool running;
};

/* Calls run(context) in a new thread, or at once. context must outlive it. */
void task_start(struct task *task, void (*run)(void *context), void *context);
/* Waits until the task is done; returns at once when it was never started or was waited for. */
void task_wait(struct task *task);

/* Calls run for each of the n contexts, which lie size bytes apart, all at the same time. */
void task_run_all(void (*run)(void *context), void *contexts, size_t size, size_t n);

/*
 * Calls one for each item below n_items, by several workers at the same time, which lie size bytes apart.
 * Each takes the next few items when it has none, so that large items are spread. False when one returned
 * false; then not all items have been worked on.
 */
bool task_share(bool (*one)(void *context, void *worker, size_t item), void *context,
    void *workers, size_t size, size_t n_workers, size_t n_items);

/* Processors this process may use, at least 1. */
unsigned int task_processors(void);

#endif
