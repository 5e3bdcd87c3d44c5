/* SPDX-License-Identifier: MIT */
/* a64_tlsdesc in plts.txt says what this is. */
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
