/* SPDX-License-Identifier: MIT */
/*
 * A profile: samples of programs with their stacks, in memory. Lists only grow, and an index into
 * one stays right.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/hash_slots.h"

/* The recording that eh2sframe-record writes and eh2sframe-fold reads, unless they are told another. */
#define PROFILE_RECORDING "eh2sframe.recording"

/* Why the walk of a sample's stack ended. 1 to 8 are those of enum eh2sframe_walk_why; walk_ended
 * (unwinder_walk.c) has the others. */
enum profile_why {
	PROFILE_OUTERMOST = 1, /* the stack is complete */
	PROFILE_LIMIT = 2,
	PROFILE_NO_MODULE = 3,
	PROFILE_NO_ROW = 4,
	PROFILE_LOST_REGISTER = 5,
	/* The copy of the stack ends below what a row leads to, or is empty. */
	PROFILE_CUT_OFF = 6,
	PROFILE_CONTRADICTION = 7,
	PROFILE_DAMAGED = 8,
	PROFILE_NO_STACK = 9, /* a thread of the kernel: complete */
	PROFILE_NO_ROWS = 10, /* the file could not be read or converted */
	PROFILE_ZERO = 11,    /* the return address is 0, which a wrong row finds, too */
	PROFILE_GIVEN = 12,   /* as the kernel or another program walked it */
	PROFILE_GUESSED = 13, /* outermost frame, and frame pointers led to some frames */
	PROFILE_N_WHYS = 14,
};

/* "outermost frame", "copy cut off", ...: lives as long as the program. */
const char *profile_why_text(unsigned int why);
/* True if the stack has all its frames. */
bool profile_why_complete(unsigned int why);
/* True if it has them by frame pointers. */
bool profile_why_guessed(unsigned int why);
/* True if its outermost frame is that of the thread, also by frame pointers. */
bool profile_why_outermost(unsigned int why);

/* For each way in which stacks end, how many samples there are and the sum of their weights. */
struct profile_ends {
	uint64_t n[PROFILE_N_WHYS];
	double weights[PROFILE_N_WHYS];
};

void profile_ends_add(struct profile_ends *ends, unsigned int why, uint64_t weight);
/* Returns the percentage of the weights of those for which is_so is true. */
double profile_ends_share(
    const struct profile_ends *ends, bool (*is_so)(unsigned int why));
/* Returns advice for the most frequent reason to end early, if it has more than a hundredth of the weights: "; ...", or "". */
const char *profile_ends_advice(const struct profile_ends *ends);

enum { PROFILE_BUILD_ID_MAX = 64 };

enum profile_module_flags {
	/* The file could not be read: addresses in it are offsets in the file. */
	PROFILE_MODULE_OFFSETS = 1,
	PROFILE_MODULE_KERNEL = 2, /* "[kernel]", or a module of it such as "[ext4]" */
};

/* A mapped file, the vDSO, the kernel or a module of it. */
struct profile_module {
	uint8_t build_id[PROFILE_BUILD_ID_MAX]; /* zeros behind its size */
	uint32_t build_id_size;			/* 0: it has none */
	uint32_t flags;				/* enum profile_module_flags */
	/* Named by the kernel: "/usr/bin/ls", "/tmp/a (deleted)", "[vdso]". */
	char *path;
	/* Bytes of the ELF file where no file has them: the vDSO. Borrowed; or NULL. */
	const uint8_t *image;
	size_t image_size;
};

enum profile_frame_kind {
	PROFILE_FRAME_FILE = 0,	  /* address in module, before relocation */
	PROFILE_FRAME_KERNEL = 1, /* address in the kernel; name when it was readable */
	PROFILE_FRAME_JIT = 2, /* address in process pid, name from /tmp/perf-PID.map */
	/* Stands for callers that were not found, and has no address; its name says why. */
	PROFILE_FRAME_MARK = 3,
	/* Begins every stack, and has no address; its name is that of the thread. */
	PROFILE_FRAME_THREAD = 4,
	PROFILE_FRAME_UNKNOWN = 5, /* address in process pid, in no file */
};

enum profile_frame_flags {
	/* address is the next instruction. Otherwise it is a return address: the call is in front
	 * of it, so look symbols up at address - 1. */
	PROFILE_FRAME_EXACT = 1,
	PROFILE_FRAME_GUESSED = 2, /* found by a frame pointer, without a row */
};

struct profile_frame {
	uint64_t address;
	uint32_t module; /* index: FILE and KERNEL; else 0 */
	uint32_t pid;	 /* JIT and UNKNOWN; else 0 */
	uint32_t kind;	 /* enum profile_frame_kind */
	uint32_t flags;	 /* enum profile_frame_flags */
	char *name;	 /* KERNEL and JIT: the symbol, or NULL; MARK; THREAD */
};

/*
 * A stack is its first frame and the stack that called it, so stacks share their ends. Stack 0
 * is empty. caller is below the stack's own index. Frames of the kernel come first, then those of the program, a MARK, and a THREAD.
 */
struct profile_stack {
	uint32_t caller; /* index of a stack; 0: this frame is the outermost one found */
	uint32_t frame;	 /* index of a frame */
	/* First stack that was added with this one as its caller; or 0. */
	uint32_t callee;
};

/* A thread under one name. One that changes its name is several. */
struct profile_thread {
	uint32_t pid, tid;
	char *comm;
	uint32_t stack; /* with which its stacks begin */
};

struct profile_sample {
	uint64_t time;	 /* ns, CLOCK_MONOTONIC */
	uint64_t weight; /* in info.unit; where that is "", 1 */
	uint32_t thread, stack;
	uint8_t why; /* enum profile_why */
};

enum profile_machine { /* as enum eh2sframe_walk_machine */
	PROFILE_X86_64 = 1,
	PROFILE_AARCH64 = 2,
	PROFILE_S390X = 3,
	PROFILE_N_MACHINES = 4,
};

/* The origin of the samples, and how they were taken. Strings are NULL until a recording is loaded. */
struct profile_info {
	uint32_t machine;   /* enum profile_machine */
	uint32_t frequency; /* samples a second and processor */
	/* Seconds since 1970: when the recording was written. */
	uint64_t start;
	uint64_t lost; /* samples that the kernel had no room for, or that are damaged */
	uint64_t n_others;    /* samples of other events, which are left out */
	uint64_t kernel_text; /* the address of its _text; 0: not known */
	char *event;	      /* "cpu-clock", "cycles" */
	char *unit;	      /* of weights: "ns", "cycles"; "": each sample counts 1 */
	char *command;	      /* the command line, or "-a", "-p 17 18" */
	char *host;
	char *release; /* of the kernel */
	bool cut_off;  /* the recording was not finished */
};

/* Zeroed, then profile_init. Members are read freely and changed by the functions below. */
struct profile {
	struct profile_info info;
	struct profile_module *modules;
	struct profile_frame *frames;
	struct profile_stack *stacks; /* n_stacks >= 1 */
	struct profile_thread *threads;
	struct profile_sample *samples; /* in the order of time */
	size_t n_modules, n_frames, n_stacks, n_threads, n_samples;
	size_t cap_modules, cap_frames, cap_stacks, cap_threads, cap_samples;
	struct slots module_slots, frame_slots, stack_slots, thread_slots;
	size_t n_further_stacks; /* in stack_slots: all but the first of each caller */
	struct hash_key key;	 /* of stack_slots */
};

/* A list in which equal elements are one. They begin with a key, behind which is the address of a text of their own, or NULL; both tell them apart. */
struct profile_list {
	void *elements; /* the address of the owner's pointer to them */
	size_t *n, *cap;
	struct slots *slots;
	size_t size, text; /* bytes of an element, and where that address is */
};
/* Names the list of an owner that has these members: names, n_names, cap_names, name_slots. */
#define PROFILE_LIST(owner, name, text)                                                  \
	&(const struct profile_list)                                                     \
	{                                                                                \
		&(owner)->name##s, &(owner)->n_##name##s, &(owner)->cap_##name##s,       \
		    &(owner)->name##_slots, sizeof(*(owner)->name##s),                   \
		    offsetof(__typeof__(*(owner)->name##s), text)                        \
	}
/* Adds an element with a copy of its text, or finds an equal one, and gives its index. ERR_NOMEM; ERR_LIMIT at 2^32 - 1. */
ATTR_MUST_CHECK bool profile_add(const struct profile_list *list, const void *element,
    uint32_t *index, struct err *err);

/* True if it was recorded on this system, with the kernel that runs now. */
bool profile_is_here(const struct profile_info *info);

ATTR_MUST_CHECK bool profile_init(struct profile *profile, struct err *err);
void profile_free(struct profile *profile); /* accepts a zeroed one */

/*
 * Each adds an element, or finds an equal one, and gives its index. Strings and bytes are
 * copied. Indices in it are there. ERR_NOMEM; ERR_LIMIT at 2^32 - 1.
 */
ATTR_MUST_CHECK bool profile_add_module(struct profile *profile,
    const struct profile_module *module, uint32_t *index, struct err *err);
ATTR_MUST_CHECK bool profile_add_frame(struct profile *profile,
    const struct profile_frame *frame, uint32_t *index, struct err *err);
ATTR_MUST_CHECK bool profile_add_stack(struct profile *profile, uint32_t caller,
    uint32_t frame, uint32_t *index, struct err *err);
ATTR_MUST_CHECK bool profile_add_thread(struct profile *profile, uint32_t pid,
    uint32_t tid, const char *comm, uint32_t *index, struct err *err);
/* Always adds. */
ATTR_MUST_CHECK bool profile_add_sample(
    struct profile *profile, const struct profile_sample *sample, struct err *err);
/*
 * stacks/load.c: reads a perf.data into an initialised profile. Copies of stacks are walked by the files that are there now with the same
 * build-id. guess: follow frame pointers where there are no rows. The errors of perfdata_open, and ERR_LIMIT.
 */
ATTR_MUST_CHECK bool profile_load(
    struct profile *profile, int fd, bool guess, struct err *err);

/*
 * mapped.c: from now on, reading a page that a mapped file has lost gives zeros, which every reader takes for damage.
 * Without it, whoever truncates a file that was recorded ends this program.
 */
void profile_survive_truncation(void);
/* The last place at which zeros were read instead of what the file had; NULL: none. */
extern const void *volatile profile_lost;

#endif
