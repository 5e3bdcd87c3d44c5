/* SPDX-License-Identifier: MIT */
/* Two functions that are called and whose addresses are taken from the GOT. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	mov first@GOTPCREL(%rip), %rax
	call first@plt
	mov second@GOTPCREL(%rip), %rax
	call second@plt
	ret
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
