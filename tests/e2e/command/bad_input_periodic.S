/* SPDX-License-Identifier: MIT */
/*
 * 200 functions of 1 MiB whose CFA is rsp + (rip & 0xff): 7 KB that stand for 200 million rows; with 800 of them memory
 * ran out.
 */
#include "raw.h"
	.section .xbss, "awx", @nobits
code:
	.zero 0xc800000
	.section .cfi_bytes
	usual_cie cie
	.set i, 0
	.rept 200
	.long 2f - 1f
1:	.long . - cie
	.long code + i - .
	.long 0x100000
	.uleb128 0
	.byte 0x0f, 9, 0x77, 0, 0x80, 0, 0x08, 0xff, 0x96, 0x1a, 0x22
	.balign 4, 0
2:	.set i, i + 0x100000
	.endr
	.long 0
