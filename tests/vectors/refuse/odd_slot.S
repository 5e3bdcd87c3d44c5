/* SPDX-License-Identifier: MIT */
/*
 * The return address at an odd offset: version 2 would read the number of a register.
 * versions: 2 3
 * expect: odd-slot functions=1 bytes=8
 * kept: 0+4 12+4
 * expect-v3: none
 * kept-v3: 0+16
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x10, 14, 2, 0x37, 0x1c	/* expression: lit7, minus */
	.skip 8
	.cfi_restore 14
	.skip 4
	.cfi_endproc
	.size func, . - func
