/* SPDX-License-Identifier: MIT */
/*
 * mold gives its PLT no CFI either, and pushes in the header only.
 * plt: .plt+0 size=32: 0 sp+8, 6 sp+16, 12 sp+24
 * plt: .plt+32 size=48 rep=16: 0 sp+8
 * plt: template 80 bytes
 */
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
