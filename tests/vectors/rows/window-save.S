/* SPDX-License-Identifier: MIT */
/* GNU_window_save means nothing here; SPARC saves registers 16 to 31, so RA is lost. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x2d
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
