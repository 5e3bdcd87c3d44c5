/* SPDX-License-Identifier: MIT */
/* The two sections of CFI as hostile bytes. */
#ifndef FUZZ_FRAMES_H
#define FUZZ_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as 4 kinds of machine would have them; the last debug_size of them are
 * .debug_frame. */
void frames_fuzz(const uint8_t *data, size_t size, size_t debug_size);

#endif
