/* SPDX-License-Identifier: MIT */
/* A function of 2 GiB by the usual rules. */
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
	end giant
	.long 0
