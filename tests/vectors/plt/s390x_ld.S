/* SPDX-License-Identifier: MIT */
/*
 * GNU ld describes its PLT since 2.46; before that a template does.
 * plt: .plt+0 size=32: 0 sp+160
 * plt: .plt+32 size=64 rep=32: 0 sp+160
 * plt: template 96 bytes
 * or, by CFI:
 * plt: .plt+0 size=96 rep=32: 0 sp+160
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	brasl %r14, first@PLT
	brasl %r14, second@PLT
	br %r14
	.cfi_endproc
	.size func, . - func
