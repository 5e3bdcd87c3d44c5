/* SPDX-License-Identifier: MIT */
/*
 * A rule that repeats every 256 bytes, more than the block of a PCMASK function can have: ordinary
 * rows. The search for a period once went on to 0 here and divided by it.
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	/* breg7 8; breg16 0; const1u 255; and; const1u 200; ge; lit3; shl; plus */
	.cfi_escape 0x0f, 13, 0x77, 8, 0x80, 0, 0x08, 255, 0x1a, 0x08, 200, 0x2a, 0x33, 0x24, 0x22
	.skip 600, 0x90
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
