/* SPDX-License-Identifier: MIT */
/* MIPS_advance_loc8: an 8-byte delta. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.cfi_escape 0x1d, 4, 0, 0, 0, 0, 0, 0, 0
	.cfi_escape 0x0e, 16
	.skip 8
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
