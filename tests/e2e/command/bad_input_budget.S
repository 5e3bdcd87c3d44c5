/* SPDX-License-Identifier: MIT */
/*
 * Signal frames with expressions so long that, of one bound for all, no operation was left for the PLT behind. When a
 * conversion passed over signal frames unread, the proof took that for a difference.
 */
#include "raw.h"
	.section .xtext, "awx", @nobits
code:	.zero 0x200000
	.section .cfi_bytes
	cie_head scie, 1, zRS
	.uleb128 1
	.byte 0x1b
	usual_rules scie
	usual_cie cie
	.set i, 0
	.rept 80
	.long 2f - 1f
1:	.long . - scie
	.long code + i - .
	.long 0x2000
	.uleb128 0
	.byte 0x0f
	.uleb128 909
	.byte 0x77, 0, 0x80, 0, 0x0a, 0xff, 0x0f, 0x1a, 0x22
	.fill 900, 1, 0x96
	.balign 4, 0
2:	.set i, i + 0x2000
	.endr
	.long 2f - 1f
1:	.long . - cie
	.long code + 0x180000 - .
	.long 64
	.uleb128 0
	.byte 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.balign 4, 0
2:	.long 0
