/* SPDX-License-Identifier: MIT */
/* undefined and same_value are rules of their own, apart from no rule. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_undefined rip
	.skip 4
	.cfi_undefined rbp
	.skip 4
	.cfi_same_value rbp
	.skip 4
	.cfi_same_value rsp
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
