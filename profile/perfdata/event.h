/* SPDX-License-Identifier: MIT */
/*
 * The records of perf_event_open(2), as the kernel writes them to a ring and as perf.data keeps
 * them. Those of a file are hostile: each member is read within the record's size.
 */
#ifndef PROFILE_PERFDATA_EVENT_H
#define PROFILE_PERFDATA_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* The members that this program asks the kernel for. */
enum {
	EVENT_SAMPLE_TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER
};
/* A record's size is 16 bits. */
enum { EVENT_MAX_SIZE = 65536, EVENT_MAX_BUILD_ID = 20 };

/* The members that the records of an event have, by its struct perf_event_attr. */
struct event_layout {
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t read_format; /* PERF_FORMAT_* */
	uint64_t branches;    /* PERF_SAMPLE_BRANCH_* */
	uint64_t registers; /* a bit for each by perf's number, as in sample_regs_user */
	uint64_t
	    id_all; /* not 0: other records than samples say who and when at their end */
};

struct event_layout event_layout(const struct perf_event_attr *attr);

enum event_kind {
	EVENT_OTHER = 0,
	EVENT_MAP,
	EVENT_COMM,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_SAMPLE,
	EVENT_LOST,
};

/* Pointers lead into the record. */
struct event {
	enum event_kind kind;
	uint32_t pid, tid, cpu;
	uint64_t time;	 /* ns, CLOCK_MONOTONIC */
	uint32_t parent; /* FORK: the process and thread that made it */
	uint32_t parent_tid;
	bool exec;		 /* COMM: the process runs another program now */
	bool data;		 /* MAP: not of code */
	bool build_id_known;	 /* MAP: else device and inode are */
	const char *text;	 /* MAP: the path; COMM: the name */
	uint64_t start, size;	 /* MAP */
	uint64_t offset;	 /* MAP: in the file */
	uint32_t major, minor;	 /* MAP */
	uint64_t inode;		 /* MAP */
	uint64_t generation;	 /* MAP: of the inode; 0: not known */
	const uint8_t *build_id; /* MAP */
	uint32_t build_id_size;
	uint64_t lost; /* LOST: how many records */
	/* SAMPLE. */
	uint64_t ip;
	unsigned int cpu_mode; /* PERF_RECORD_MISC_USER, _KERNEL, ... */
	uint64_t weight;       /* the period; 0: the record has none */
	const uint8_t *chain; /* n_chain words of 8 bytes: addresses and PERF_CONTEXT_* */
	size_t n_chain;
	const uint8_t *raw; /* PERF_SAMPLE_RAW, or NULL */
	size_t raw_size;
	uint64_t abi;		  /* PERF_SAMPLE_REGS_ABI_* */
	const uint8_t *registers; /* a word for each bit of register_mask; NULL: none */
	uint64_t register_mask;
	const uint8_t *stack;
	size_t stack_size;
	size_t stack_at; /* where the size of the stack is in the record */
};

/* A record of size bytes, in the byte order of this machine. false: it is damaged. */
ATTR_MUST_CHECK bool event_read(const uint8_t *bytes, size_t size,
    const struct event_layout *layout, struct event *event);

/* Returns what makes a time of CLOCK_MONOTONIC one of the wall clock, in ns, as that is set now. */
uint64_t event_clock(void);

/* When it was, without a look at the rest; 0: it does not say. */
uint64_t event_time(const uint8_t *bytes, size_t size, const struct event_layout *layout);

/* Finds the number that perf.data has for the event of a record. false: it does not say. */
ATTR_MUST_CHECK bool event_id(
    const uint8_t *bytes, size_t size, const struct event_layout *layout, uint64_t *id);

/* Copies a record of EVENT_SAMPLE_TYPE without the part of the stack that the kernel could not
 * read. Returns its new size; at most size. */
size_t event_copy(
    uint8_t *to, const uint8_t *bytes, size_t size, const struct event_layout *layout);

/* Makes records as the kernel would: of what is known when a recording begins. to has
 * EVENT_MAX_SIZE bytes. Each returns the record's size. */
size_t event_make_map(uint8_t *to, const struct event *event);
size_t event_make_comm(uint8_t *to, const struct event *event);

#endif
