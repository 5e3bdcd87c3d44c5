/* SPDX-License-Identifier: MIT */
/* An unknown opcode costs the FDE: nobody knows where its operands end. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x3b
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
