/* SPDX-License-Identifier: MIT */
/* The caller's value is in another register. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_register rbp, r12
	.skip 4
	.cfi_register rip, rcx
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
