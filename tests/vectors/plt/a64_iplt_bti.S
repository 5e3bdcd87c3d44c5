/* SPDX-License-Identifier: MIT */
/*
 * lld: entries of indirect functions have a section of their own, and landing pads.
 * plt: .iplt+0 size=48 rep=24: 0 sp+0
 * plt: template 48 bytes
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	bl chosen
	bl picked
	ret
	.cfi_endproc
	.size func, . - func
	.hidden chosen, picked
	.globl chosen, picked
	.type chosen, %gnu_indirect_function
	.type picked, %gnu_indirect_function
chosen:
picked:
	.cfi_startproc
	ret
	.cfi_endproc
