/* SPDX-License-Identifier: MIT */
/*
 * GNU ld: entries of 24 bytes, so the TLSDESC stub stands anywhere.
 * plt: .plt+0 size=32: 0 sp+0, 4 sp+16 c-8
 * plt: .plt+32 size=48 rep=24: 0 sp+0
 * plt: .plt+80 size=32: 0 sp+0, 4 sp+16
 * plt: template 112 bytes
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	bl first
	bl second
	adrp x0, :tlsdesc:variable
	ldr x1, [x0, :tlsdesc_lo12:variable]
	add x0, x0, :tlsdesc_lo12:variable
	.tlsdesccall variable
	blr x1
	ret
	.cfi_endproc
	.size func, . - func
