/* SPDX-License-Identifier: MIT */
/*
 * Target of the rows. The reducer asks it which rows can be written, the proof asks it
 * which rows could have been.
 */
#ifndef GEN_ROWS_TARGET_H
#define GEN_ROWS_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/frames.h"
#include "gen/arch/arch.h"

struct target {
	const struct arch *arch;
	uint8_t version;   /* of SFrame */
	bool signal_frame; /* the function at hand is one: its PC is not behind a call */
	bool pauth_b;	   /* it signs its return address with key B */
};

/* The target for the code of a CIE. Augmentation letter B is a key on one machine only.
 */
static inline struct target target_for(
    const struct arch *arch, uint8_t version, const struct cfi_cie *cie)
{
	return (struct target){
	    arch, version, cie->signal_frame, arch->cfi.aarch64_ra_state && cie->b_key};
}

#endif
