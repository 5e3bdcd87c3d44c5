/* SPDX-License-Identifier: MIT */
/* A stack deeper than 64 values is opaque. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_escape 0x16, 6, 65
	.rept 65
	.cfi_escape 0x31
	.endr
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
