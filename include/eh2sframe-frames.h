/* SPDX-License-Identifier: MIT */
/*
 * CFI in memory that no ELF file has: what a JIT engine gives to __register_frame. All that
 * include/eh2sframe.h does with an open file works with it, but what reads instructions: a check
 * of the code fails with EH2SFRAME_INPUT.
 * libeh2sframe(3) explains it, and examples/jit is a program that does it.
 */
#ifndef EH2SFRAME_FRAMES_H
#define EH2SFRAME_FRAMES_H

#include "eh2sframe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* .eh_frame as LSB core, "Exception Frames", has it: 64-bit addresses, CIEs and FDEs. */
struct eh2sframe_frames {
	size_t struct_size; /* set by the caller: sizeof(struct eh2sframe_frames) */
	const void *bytes;  /* of .eh_frame, with or without its terminator */
	size_t size;	    /* bytes */
	/* Address of the first byte: encoded pointers count from their own address. */
	uint64_t address;
	/* Addresses of the code, the end exclusive. Both 0: what the FDEs describe, from the
	 * first byte to the last. FDEs outside get no rows. */
	uint64_t text_start, text_end;
	uint32_t machine;    /* e_machine of ELF: 62 x86-64, 183 AArch64, 22 s390x */
	uint32_t big_endian; /* 0 or 1 (else EH2SFRAME_USAGE); s390x: 1 */
};

/*
 * Opens CFI in memory. The bytes are copied, so the caller may free them afterwards. name is
 * for messages. options are copied; NULL means the defaults. NULL with error set: see
 * eh2sframe_open_path, and EH2SFRAME_USAGE where addresses do not ascend.
 */
EH2SFRAME_CHECKED struct eh2sframe_file *eh2sframe_open_frames(
    const struct eh2sframe_frames *frames, const char *name,
    const struct eh2sframe_options *options, struct eh2sframe_error *error);

/*
 * Where an open file's code is: from the first executable byte to the end of the last one. A walker
 * wants it beside the section (eh2sframe_walk_add). false: a relocatable object, or no code.
 */
EH2SFRAME_CHECKED bool eh2sframe_file_text(
    const struct eh2sframe_file *file, uint64_t *start, uint64_t *end);

#ifdef __cplusplus
}
#endif

#endif
