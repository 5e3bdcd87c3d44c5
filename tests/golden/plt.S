/* SPDX-License-Identifier: MIT */
/* The functions of a PLT: header, repeated entries, and those of one row. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	call first@plt
	call second@plt
	ret
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
