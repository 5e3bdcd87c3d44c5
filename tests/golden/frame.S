/* SPDX-License-Identifier: MIT */
/* What compilers write: a frame pointer, a callee-saved push, and two functions of the same rows. */
	.text
	.macro function name, bytes
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
	.skip \bytes, 0x90
	.cfi_remember_state
	leave
	.cfi_def_cfa 7, 8
	ret
	.cfi_restore_state
	.skip 3, 0x90
	.cfi_endproc
	.size \name, . - \name
	.endm

	function first, 40
	function second, 40
	function longer, 400
	.section .note.GNU-stack, "", @progbits
