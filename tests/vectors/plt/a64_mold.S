/* SPDX-License-Identifier: MIT */
/* a64_mold in plts.txt says what this is. */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	bl first
	bl second
	bl third
	adrp x0, :got:third
	ldr x0, [x0, :got_lo12:third]
	ret
	.cfi_endproc
	.size func, . - func
