/* SPDX-License-Identifier: MIT */
/*
 * lld: entries grow to the size of those with a landing pad.
 * plt: .plt+0 size=32: 0 sp+0, 8 sp+16 c-8
 * plt: .plt+32 size=48 rep=24: 0 sp+0
 * plt: template 80 bytes
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	bl first
	bl second
	ret
	.cfi_endproc
	.size func, . - func
