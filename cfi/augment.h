/* SPDX-License-Identifier: MIT */
/*
 * Reads the data for exceptions: personality routine and language-specific data (LSB core, "Exception
 * Frames"). Rows do not depend on them, so the reader of frames skips them.
 */
#ifndef CFI_AUGMENT_H
#define CFI_AUGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/frames.h"

/* The exception data of a CIE. */
struct cfi_augment {
	uint64_t personality;  /* its address, or where its address is stored; 0: none */
	uint8_t lsda_encoding; /* DW_EH_PE_*; DW_EH_PE_omit: FDEs have no pointer */
};

/* Returns the exception data of a CIE; damaged data count as none. */
struct cfi_augment cfi_augment_read(
    const struct cfi_frames *frames, const struct cfi_cie *cie);

/* The address of the FDE's language-specific data; 0: none. */
uint64_t cfi_augment_lsda(const struct cfi_frames *frames, const struct cfi_fde *fde,
    const struct cfi_augment *augment);

#endif
