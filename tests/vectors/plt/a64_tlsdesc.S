/* SPDX-License-Identifier: MIT */
/*
 * GNU ld: a header and the TLSDESC stub, no entries.
 * plt: .plt+0 size=32: 0 sp+0, 4 sp+16 c-8
 * plt: .plt+32 size=32: 0 sp+0, 4 sp+16
 * plt: template 64 bytes
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	adrp x0, :tlsdesc:variable
	ldr x1, [x0, :tlsdesc_lo12:variable]
	add x0, x0, :tlsdesc_lo12:variable
	.tlsdesccall variable
	blr x1
	ret
	.cfi_endproc
	.size func, . - func
