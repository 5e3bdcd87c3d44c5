/* SPDX-License-Identifier: MIT */
/*
 * GNU ld, a library: landing pads in header and TLSDESC stub only.
 * plt: .plt+0 size=32: 0 sp+0, 8 sp+16 c-8
 * plt: .plt+32 size=32 rep=16: 0 sp+0
 * plt: .plt+64 size=32: 0 sp+0, 8 sp+16
 * plt: template 96 bytes
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
