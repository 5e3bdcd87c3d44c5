/* SPDX-License-Identifier: MIT */
/*
 * The records that perf_event_open gives with the members EVENT_SAMPLE_TYPE and
 * sample_id_all, as this program asks for them. perf_event_open(2) describes them. A raw
 * recording keeps them, so they are hostile.
 */
#ifndef PROFILE_STACKS_EVENT_H
#define PROFILE_STACKS_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

enum {
	EVENT_SAMPLE_TYPE = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER
};
/* A record's size is 16 bits. */
enum { EVENT_MAX_SIZE = 65536, EVENT_MAX_REGISTERS = 64, EVENT_MAX_BUILD_ID = 20 };

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
	bool build_id_known;	 /* MAP: else device and inode are */
	const char *text;	 /* MAP: the path; COMM: the name */
	uint64_t start, size;	 /* MAP */
	uint64_t offset;	 /* MAP: in the file */
	uint32_t major, minor;	 /* MAP */
	uint64_t inode;		 /* MAP */
	const uint8_t *build_id; /* MAP */
	uint32_t build_id_size;
	uint64_t lost; /* LOST: how many records */
	/* SAMPLE. */
	uint64_t weight;
	const uint8_t *chain; /* n_chain words of 8 bytes: addresses and PERF_CONTEXT_* */
	size_t n_chain;
	uint64_t abi;		  /* PERF_SAMPLE_REGS_ABI_* */
	const uint8_t *registers; /* n_registers words; NULL: none */
	size_t n_registers;
	const uint8_t *stack;
	size_t stack_size;
	size_t stack_at; /* where the size of the stack is in the record */
};

/* A record of size bytes. n_registers: how many the mask has. false: it is damaged. */
ATTR_MUST_CHECK bool event_read(
    const uint8_t *bytes, size_t size, size_t n_registers, struct event *event);

/* When it was, without a look at the rest. */
uint64_t event_time(const uint8_t *bytes, size_t size);

/* Copies a record of size bytes without the part of the stack that the kernel could not
 * read. Returns its new size; at most size. */
size_t event_copy(uint8_t *to, const uint8_t *bytes, size_t size, size_t n_registers);

/* Makes records as the kernel would: of what is known when a recording begins. to has
 * EVENT_MAX_SIZE bytes. Each returns the record's size. */
size_t event_make_map(uint8_t *to, const struct event *event);
size_t event_make_comm(uint8_t *to, const struct event *event);

#endif
