/* SPDX-License-Identifier: MIT */
/*
 * CFA = rsp + 8 + (rip & 511): rules over the PC with a period longer than any PLT's. Looking for
 * the period doubled an 8-bit number until it was 0, and divided by it.
 */
	.text
	.globl	func
	.type	func, @function
func:
	.cfi_startproc
	.cfi_escape 0x0f, 9, 0x77, 8, 0x80, 0, 0x0a, 0xff, 0x01, 0x1a, 0x22
	.space	2000, 0x90
	.cfi_endproc
	.size	func, . - func
