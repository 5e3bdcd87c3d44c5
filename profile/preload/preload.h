/* SPDX-License-Identifier: MIT */
/*
 * The library that eh2sframe-record puts into a process by LD_PRELOAD. A timer of each thread's
 * processor time interrupts it, and the handler walks the stack by rows that the recorder has
 * made. docs/PROFILE.md explains it.
 */
#ifndef PROFILE_PRELOAD_PRELOAD_H
#define PROFILE_PRELOAD_PRELOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/preload/shared.h"

#define PRELOAD_API __attribute__((visibility("default")))

struct preload {
	struct shared
	    *shared;  /* stays when samples end, as other threads may be in the handler */
	bool samples; /* this process is recorded */
	uint32_t table; /* of new threads */
	/* This library's code, whose frames are left out. */
	uint64_t text, text_end;
};
extern struct preload preload;

static inline bool preload_samples(void)
{
	return __atomic_load_n(&preload.samples, __ATOMIC_ACQUIRE);
}

/* preload_sample.c: the handler. slot is that of the thread, or NULL. */
void preload_sample(int number, siginfo_t *info, void *ucontext);
extern __thread struct shared_slot *preload_slot
    __attribute__((tls_model("initial-exec")));

/* preload_start.c: a thread begins; parent is the process that forked, or 0. */
void preload_thread(uint32_t parent);
/* Tells the recorder when files were mapped or unmapped since the last call. */
void preload_mapped(void);
/* A sample could harm the program from now on: this process is recorded no more. */
void preload_give_up(void);

/* The function of this name in the libraries behind this one. */
void *preload_next(const char *name);

#endif
