/* SPDX-License-Identifier: MIT */
/* single in plts.txt says what this is. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	call first@plt
	ret
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
