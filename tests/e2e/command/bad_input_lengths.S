/* SPDX-License-Identifier: MIT */
/* Lengths whose sum with the offset wraps around in 32 bits, or in 64. */
#include "raw.h"
	usual_cie cie
	.long 0xffffffff		/* a 64-bit length follows */
	.quad 0xfffffffffffffff8
	.long cie - .
	.long 0xfffffff0
	.long . - cie
	.long func - .
	.long 16
