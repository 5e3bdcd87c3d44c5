/* SPDX-License-Identifier: MIT */
/* An ELF file made around CFI that has none: what a JIT engine registers, for example. */
#ifndef GEN_SOURCES_IMAGE_FRAMES_H
#define GEN_SOURCES_IMAGE_FRAMES_H

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "cfi/section.h"

struct image_frames {
	struct cfi_section cfi; /* bytes are borrowed during the call */
	uint16_t machine;	/* e_machine */
	/* Addresses of the code; both 0: from the first byte that the CFI describes to the last. */
	uint64_t text_start, text_end;
};

/*
 * Writes a program with .eh_frame at its address, and executable code without bytes. It can be used as any
 * file, except where instructions are read. bytes is empty before, and the caller frees it. Fills in the
 * code's addresses. ERR_NOTHING where the CFI describes no code, ERR_MALFORMED where none of it can be read,
 * ERR_USAGE for addresses that do not ascend. Opening the file finds out if SFrame knows the machine.
 */
ATTR_MUST_CHECK bool image_frames_make(
    struct image_frames *frames, struct wr *bytes, struct err *err);

#endif
