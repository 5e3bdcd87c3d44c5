/* SPDX-License-Identifier: MIT */
/*
 * Bytes between functions. Code without CFI may be as short as padding is: glibc's
 * clone() has none for the few instructions after its system call, so that no unwinder
 * leaves the new thread by the rules of the old one.
 */
#ifndef GEN_ROWS_PADDING_H
#define GEN_ROWS_PADDING_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/arch/arch.h"
#include "gen/elf/window.h"

/* True if nothing in [start, end) is ever run, because its bytes in code are struct arch's fillers. */
bool padding_only(
    struct image_window *code, const struct arch *arch, uint64_t start, uint64_t end);

/* Returns how many bytes of filler size bytes of code begin and end with. */
uint64_t padding_front(const struct arch *arch, const uint8_t *code, uint64_t size);
uint64_t padding_back(const struct arch *arch, const uint8_t *code, uint64_t size);

#endif
