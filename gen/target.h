/* SPDX-License-Identifier: MIT */
/*
 * What rows are made for. The reducer asks it what can be said, the proof asks it what
 * could have been.
 */
#ifndef GEN_TARGET_H
#define GEN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/arch.h"

struct target {
	const struct arch *arch;
	uint8_t version;   /* of SFrame */
	bool signal_frame; /* the function at hand is one: its PC is not behind a call */
};

/* The most rows that one function of the target can have: version 3 counts in 16 bits. */
static inline uint32_t target_max_rows(const struct target *target)
{
	return target->version >= 3 ? UINT16_MAX : UINT32_MAX;
}

#endif
