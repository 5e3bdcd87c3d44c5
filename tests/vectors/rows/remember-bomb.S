/* SPDX-License-Identifier: MIT */
/* More remembered states than anybody needs: a limit, not memory without end. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.rept 1025
	.cfi_escape 0x0a
	.endr
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
