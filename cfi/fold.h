/* SPDX-License-Identifier: MIT */
/* Arithmetic of DWARF expressions on constants (DWARF 5, 2.5.1.4). */
#ifndef CFI_FOLD_H
#define CFI_FOLD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * a op b for the two-operand operation op, modulo 2^64; division and comparisons are
 * signed. False for other operations, and where readers differ: division by zero, shifts
 * by 64 or more, and a remainder of negative operands (unsigned in libgcc, signed in
 * libunwind).
 */
bool cfi_fold(uint8_t op, uint64_t a, uint64_t b, uint64_t *out);

#endif
