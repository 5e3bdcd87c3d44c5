/* SPDX-License-Identifier: MIT */
/* What most vectors are: func, of 4 bytes, what the vector is about, and 5 bytes. */
	.macro begin
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4, 0x90
	.endm
	.macro end
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
	.endm
