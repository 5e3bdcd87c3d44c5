/* SPDX-License-Identifier: MIT */
/* nop and GNU_args_size change no rule. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x00, 0x2e, 0x80, 0x01
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
