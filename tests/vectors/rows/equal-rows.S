/* SPDX-License-Identifier: MIT */
/* Instructions that change nothing tracked, or back and forth, leave one row. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_offset rbx, -16
	.skip 4
	.cfi_def_cfa_offset 8
	.skip 4
	.cfi_def_cfa_offset 16
	.cfi_def_cfa_offset 8
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
