/* SPDX-License-Identifier: MIT */
/* Two functions of another file, called. */
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
