/* SPDX-License-Identifier: MIT */
/* Three functions of another file, called. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	call first@plt
	call second@plt
	call third@plt
	ret
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
