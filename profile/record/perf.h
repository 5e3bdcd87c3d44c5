/* SPDX-License-Identifier: MIT */
/* Events of the kernel (perf_event_open(2)) and the rings that it writes their records to. */
#ifndef PROFILE_RECORD_PERF_H
#define PROFILE_RECORD_PERF_H

#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/record/args.h"

/* A processor's ring. */
struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: it has no event */
	const uint8_t *data;
	uint64_t size; /* a power of 2 */
	uint64_t head, tail;
};

/* Zeroed, then perf_begin. */
struct perf {
	struct perf_event_attr attr;
	struct perf_ring *rings;   /* of each processor */
	size_t n_rings, ring_size; /* bytes of one */
	size_t n_events;	   /* whose descriptors last as long as the program */
	/* The first event of each ring, or -1; and one behind them, which is free. */
	struct pollfd *polls;
	bool kernel;	  /* the kernel's frames are permitted */
	bool denied;	  /* the kernel permits no event */
	uint8_t *scratch; /* a record that goes over the end of a ring */
	/* A bit for each number of a process whose records stay; NULL: all stay. */
	uint64_t *kept;
	uint32_t kept_on_exec; /* stays from the program on that it runs next; 0: none */
};

enum { PERF_WHOLE_SYSTEM = -1 };

/* Sets what events ask the kernel for; registers has a bit for each by perf's number. ERR_NOMEM. */
ATTR_MUST_CHECK bool perf_begin(struct perf *perf, const struct record_args *args,
    uint64_t registers, struct err *err);
/*
 * Opens an event on each processor, for a thread and those that it makes, or for
 * PERF_WHOLE_SYSTEM. on_exec: it starts when the thread runs another program, or the system's
 * by perf_switch. If the thread is gone, it opens none. ERR_IO: not permitted (denied) or not possible.
 */
ATTR_MUST_CHECK bool perf_open(
    struct perf *perf, pid_t tid, bool on_exec, struct err *err);
/*
 * Keeps a process and its descendants, and drops the records of all others. An event of a task begins its period anew in each task that
 * inherits it, so tasks shorter than the period have no samples; events of the whole system have all. on_exec: from the program on that it
 * runs next. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool perf_keep(
    struct perf *perf, pid_t pid, bool on_exec, struct err *err);
/* Takes in a record, in their order. false: it is another process's. */
bool perf_keeps(struct perf *perf, const uint8_t *bytes);
/* Starts all events that this thread has opened, or stops them. */
void perf_switch(bool on);
void perf_free(struct perf *perf);

/* The oldest record of all rings that is not newer than limit; NULL when there is none. It
 * stays until perf_done. */
const uint8_t *perf_next(
    struct perf *perf, uint64_t limit, struct perf_ring **ring, size_t *size);
void perf_done(struct perf_ring *ring, size_t size);
/* Looks for new records. */
void perf_look(struct perf *perf);

#endif
