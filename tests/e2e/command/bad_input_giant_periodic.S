/* SPDX-License-Identifier: MIT */
/* A function of 2 GiB whose CFA depends on the PC: not to be walked PC by PC. */
#include "raw.h"
	.section .xbss, "awx", @nobits
code:
	.zero 0x7f000000
	.section .cfi_bytes
	usual_cie cie
	begin giant
	.long . - cie
	.long code - .
	.long 0x7f000000
	.uleb128 0
	.byte 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	end giant
	.long 0
