/* SPDX-License-Identifier: MIT */
/*
 * The memory that eh2sframe-record shares with the processes that carry the preloaded library:
 * rings for samples, and the rows of all files. Handlers read and write it, so nothing in it
 * needs a lock. Processes can write to it by mistake: the recorder checks what it reads.
 */
#ifndef PROFILE_PRELOAD_SHARED_H
#define PROFILE_PRELOAD_SHARED_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "include/eh2sframe-walk.h"
#include "walk/opened.h"

/* The folder with the recorder's socket. */
#define SHARED_VARIABLE "EH2SFRAME_PRELOAD"
#define SHARED_SOCKET "socket"

/* The signal, which few programs use. */
#define SHARED_SIGNAL (SIGRTMAX - 7)

enum {
	SHARED_SLOTS = 1024,  /* threads at one time */
	SHARED_TABLES = 512,  /* processes with mappings of their own at one time */
	SHARED_RANGES = 2047, /* of code in a process */
	SHARED_FRAMES = 4096, /* of a stack */
	SHARED_RING = 128 << 10,
};
/* Bytes for the rows of all files. */
#define SHARED_ROWS ((uint64_t)256 << 20)

/* A PC has fewer bits. */
#define SHARED_PC_EXACT (UINT64_C(1) << 63)
#define SHARED_PC_GUESSED (UINT64_C(1) << 62)

struct shared_sample {
	uint32_t n;   /* of pcs */
	uint32_t why; /* enum eh2sframe_walk_why */
	uint64_t time;
	uint32_t periods; /* of processor time since the sample before */
	uint32_t cpu;
	uint64_t pcs[];
};

enum { SHARED_SAMPLE_MAX = sizeof(struct shared_sample) + SHARED_FRAMES * 8 };

enum shared_state { SHARED_EMPTY = 0, SHARED_LIVE = 1, SHARED_ENDED = 2 };

/*
 * A thread's samples. The thread alone writes head, the recorder alone tail. Both only grow; the
 * place in the ring is the rest by SHARED_RING. The sample that reaches the end goes beyond it, and
 * the next one is at the start.
 */
struct shared_slot {
	uint32_t owner; /* the thread that took it; 0: free */
	uint32_t state; /* enum shared_state */
	uint32_t pid, parent;
	uint32_t table; /* the recorder may change it */
	uint32_t asks;	/* a PC was in no range: look at the mappings again */
	int32_t timer;	/* the kernel's number */
	uint32_t lost;
	uint64_t head, tail;
	uint64_t apart; /* each slot has a line of the processor's cache */
};

/* Code of a process. */
struct shared_range {
	uint64_t start, end;
	uint64_t bias; /* added to the addresses of the file */
	uint64_t rows; /* where the file's section is in this memory; 0: it has no rows */
};

/* Changed by the recorder while walks read it: then sequence is odd, and another one later. */
struct shared_table {
	uint32_t sequence;
	uint32_t n;
	struct shared_range ranges[SHARED_RANGES]; /* ascend */
};

/* The start of the memory. Sections follow, with bytes, indexes and rules. */
struct shared {
	uint64_t period; /* ns of processor time */
	uint32_t guess;
	uint32_t stopped;   /* the recording has ended */
	uint32_t n_gave_up; /* processes that samples would harm */
	uint32_t n_no_slot; /* threads that found no free slot */
	uint64_t size;	    /* of all the memory */
	struct shared_slot slots[SHARED_SLOTS];
	uint64_t rings[SHARED_SLOTS][(SHARED_RING + SHARED_SAMPLE_MAX) / 8];
	struct shared_table tables[SHARED_TABLES];
};

/* Where in its ring a slot's head or tail is. */
static inline struct shared_sample *shared_place(
    struct shared *shared, const struct shared_slot *slot, uint64_t position)
{
	uint64_t *ring = shared->rings[slot - shared->slots];

	return (struct shared_sample *)(void *)(ring + position % SHARED_RING / 8);
}

/* The position behind a sample. */
static inline uint64_t shared_behind(uint64_t position, uint32_t n)
{
	uint64_t end =
	    position % SHARED_RING + sizeof(struct shared_sample) + n * (uint64_t)8;

	return end < SHARED_RING ? position - position % SHARED_RING + end
				 : (position / SHARED_RING + 1) * SHARED_RING;
}

/* What a process sends, and the answer, with the descriptor of the memory. */
enum shared_why { SHARED_BEGINS = 1, SHARED_MAPPED = 2 };
struct shared_hello {
	uint32_t why;
	uint32_t pid; /* as the process knows it */
};
struct shared_answer {
	uint32_t accepted;
	uint32_t table;
	uint64_t size;
};

/* In the memory, addresses in a section are distances from its start. */
static inline const void *shared_moved(const void *address, uintptr_t by)
{
	return address ? (const void *)((uintptr_t)address + by) : NULL;
}

/* A copy of the section that can be used where the memory and the file are. */
static inline struct eh2sframe_walk_section shared_section(
    const struct eh2sframe_walk_section *section, uintptr_t memory, uint64_t bias)
{
	struct eh2sframe_walk_section copy = *section;
	struct walk_section *moved = walk_opening(&copy);

	moved->bytes = shared_moved(moved->bytes, memory);
	moved->fdes = shared_moved(moved->fdes, memory);
	moved->fres = shared_moved(moved->fres, memory);
	moved->index = shared_moved(moved->index, memory);
	moved->extra = shared_moved(moved->extra, memory);
	moved->address += bias;
	moved->text_start += bias;
	moved->text_end += bias;
	moved->extra_base += bias;
	return copy;
}

#endif
