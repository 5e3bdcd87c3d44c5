/* SPDX-License-Identifier: MIT */
/* Two functions of another file, called, one with another calling convention, and a variable of a thread. */
	.text
	.globl func
	.type func, %function
	.variant_pcs second
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
