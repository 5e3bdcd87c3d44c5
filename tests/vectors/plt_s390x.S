/* SPDX-License-Identifier: MIT */
/*
 * GNU ld on s390x: no stub moves %r15 or changes %r14.
 * plt: .plt+0 size=32: 0 sp+160
 * plt: .plt+32 size=64 rep=32: 0 sp+160
 * plt: template 96 bytes
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
