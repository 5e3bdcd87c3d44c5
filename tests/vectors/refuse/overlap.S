/* SPDX-License-Identifier: MIT */
/*
 * Two FDEs of the same size that say different things about the seven bytes they share. What
 * each alone describes is kept.
 * expect: overlap functions=1 bytes=7
 * kept: 0+4 11+4
 */
	.text
	.globl func
	.type func, @function
func:
code:
	.skip 15, 0x90
	.size func, . - func

	/* Version 1, zR, code 1, data -8, RA 16, pcrel sdata4; CFA = rsp + 8, RA at CFA - 8. */
	.section .eh_frame, "a", @unwind
cie:
	.long cie_end - cie_body
cie_body:
	.long 0
	.byte 1
	.asciz "zR"
	.byte 1, 0x78, 16, 1, 0x1b
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8, 0
cie_end:

	.macro fde name, start, size, bytes:vararg
	.long \name\()_end - \name\()_body
\name\()_body:
	.long . - cie
	.long \start - .
	.long \size
	.uleb128 0
	.byte \bytes
	.balign 8, 0
\name\()_end:
	.endm

	fde low, code, 11, 0x0e, 8
	fde high, code + 4, 11, 0x0e, 16
	.section .note.GNU-stack, "", @progbits
