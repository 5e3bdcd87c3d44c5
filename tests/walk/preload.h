/* SPDX-License-Identifier: MIT */
/* Counters of the preloaded library, in a file that all processes of a run share. */
#ifndef TESTS_WALK_PRELOAD_H
#define TESTS_WALK_PRELOAD_H

#include <stdint.h>

enum { PRELOAD_WHYS = 16 };

struct preload_counts {
	uint64_t same;		      /* complete, and as libgcc says */
	uint64_t early[PRELOAD_WHYS]; /* a beginning of what libgcc says; by the reason */
	uint64_t further;	      /* libgcc's is a beginning of this one */
	uint64_t differ;
	uint64_t frames, libgcc_frames;
	uint64_t nanoseconds, libgcc_nanoseconds;
	uint64_t processes;
};

#endif
