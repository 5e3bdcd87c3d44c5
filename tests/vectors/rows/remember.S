/* SPDX-License-Identifier: MIT */
/* remember_state is a stack, and holds the CFA rule too. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	.cfi_remember_state
	.skip 4
	.cfi_def_cfa rbp, 16
	.cfi_remember_state
	.skip 4
	.cfi_restore rbp
	.cfi_def_cfa rsp, 8
	.skip 4
	.cfi_restore_state
	.skip 4
	.cfi_restore_state
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
