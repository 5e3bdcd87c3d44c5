/* SPDX-License-Identifier: MIT */
/*
 * GNU ld: a single lazy entry repeats nothing, so it is an ordinary function.
 * plt: .plt+0 size=32: 0 sp+16, 6 sp+24, 16 sp+8, 27 sp+16
 */
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
