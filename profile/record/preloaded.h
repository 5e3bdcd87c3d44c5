/* SPDX-License-Identifier: MIT */
/*
 * Samples from a preloaded library (profile/preload/) instead of the kernel. One thread takes
 * them out of the shared memory and speaks with processes, the other one makes rows and tables.
 */
#ifndef PROFILE_RECORD_PRELOADED_H
#define PROFILE_RECORD_PRELOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/preload/shared.h"
#include "profile/record/queue.h"
#include "profile/stacks/unwinder.h"

/* Records in the queue that the kernel has none of. */
enum preloaded_kind {
	PRELOADED_SAMPLE = 1 << 16,
	PRELOADED_THREAD, /* a slot was taken */
	PRELOADED_TABLE,  /* the mappings are known: makes the table, and answers */
	PRELOADED_GONE,	  /* the process has ended */
	PRELOADED_LOST,
};

struct preloaded_record {
	uint32_t kind;
	uint32_t pid, tid, parent;
	uint32_t slot;
	int32_t fd; /* TABLE: to answer on, or -1 */
	uint64_t lost;
	/* SAMPLE: a struct shared_sample follows. */
};

/* What is known of a slot, beside what its process says. */
struct preloaded_slot {
	uint32_t owner;	 /* when it was seen last */
	uint32_t lost;	 /* that are counted */
	uint64_t looked; /* ns: at the mappings */
	char name[16];
};

struct preloaded_process {
	uint32_t pid, table;
};

/* Ended, and forgotten a while later: its children may still begin. */
struct preloaded_gone {
	uint32_t pid;
	uint64_t when;
};
enum { PRELOADED_GONE_MAX = 4096 };

/* Zeroed, then preloaded_begin. */
struct preloaded {
	struct shared *shared; /* NULL: not used */
	int memory;	       /* its descriptor */
	int listen;
	char folder[96]; /* of the socket; "": none */
	bool linked;	 /* and of a link to the library */
	struct queue *queue;
	/* The thread that takes samples. */
	struct preloaded_slot *slots;
	struct preloaded_gone *gone;
	size_t n_gone;
	uint64_t n_begun; /* processes that carry the library */
	/* The thread that walks. */
	struct unwinder *unwinder;
	struct preloaded_process *processes;
	size_t n_processes, cap_processes;
	uint64_t *rows; /* of each file of the unwinder: where; 1: none */
	size_t n_rows, cap_rows;
	uint64_t rows_end;
	uint64_t n_no_table;
};

/* preloaded.c: the memory, the socket, and the environment of the command. ERR_IO, ERR_NOMEM. */
ATTR_MUST_CHECK bool preloaded_begin(struct preloaded *preloaded, uint32_t frequency,
    bool guess, struct queue *queue, struct unwinder *unwinder, struct err *err);
void preloaded_free(struct preloaded *preloaded); /* accepts a zeroed one */
/* Ends the sampling. Processes that wait for an answer go on without one: those that are not
 * accepted, and those whose records are left in the queue when the walker has ended. */
void preloaded_end(struct preloaded *preloaded);
void preloaded_drop(struct preloaded *preloaded);
/* Says which processes were not recorded, if any. */
void preloaded_say(const struct preloaded *preloaded, const char *command);
/* Takes what processes say. false: the walker has ended. */
ATTR_MUST_CHECK bool preloaded_hear(struct preloaded *preloaded);

/* preloaded_slots.c: moves samples that are not newer than limit to the queue. false: the walker
 * has ended. */
ATTR_MUST_CHECK bool preloaded_drain(struct preloaded *preloaded, uint64_t limit);
/* Puts the mappings of a process, as they are now, and PRELOADED_TABLE. */
ATTR_MUST_CHECK bool preloaded_look(struct preloaded *preloaded, uint32_t pid, int fd);
/* A process begins: it has none of the slots that its number had. */
ATTR_MUST_CHECK bool preloaded_renew(struct preloaded *preloaded, uint32_t pid);

/* preloaded_tables.c: takes in a record of the queue. */
ATTR_MUST_CHECK bool preloaded_event(
    struct preloaded *preloaded, const uint8_t *bytes, size_t size, struct err *err);

#endif
