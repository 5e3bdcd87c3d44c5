/* SPDX-License-Identifier: MIT */
/*
 * The frame pointer is saved, the link register is not: its word would stand in the place
 * of the return address's.
 * expect: fp-alone functions=1 bytes=8
 * kept: 0+4 12+8
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	.skip 4
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.skip 8
	.cfi_offset 30, -8
	.skip 4
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	.skip 4
	.cfi_endproc
	.size func, . - func
