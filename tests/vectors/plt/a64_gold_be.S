/* SPDX-License-Identifier: MIT */
/*
 * gold swaps the immediates of big-endian files: this code does something else.
 * plt: unknown 64 bytes
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
