/* SPDX-License-Identifier: MIT */
/*
 * lld gives its PLT no CFI: the rows come from the template that the bytes match.
 * plt: .plt+0 size=16: 0 sp+16, 6 sp+24
 * plt: .plt+16 size=48 rep=16: 0 sp+8, 11 sp+16
 * plt: template 64 bytes
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
