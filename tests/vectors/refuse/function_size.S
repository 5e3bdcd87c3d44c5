/* SPDX-License-Identifier: MIT */
/*
 * One FDE for 4 GiB of code and a byte, in a segment of memory that no file bytes fill: the size
 * field of a function has 32 bits. The function behind it is kept.
 * expect: function-size functions=1 bytes=4294967296
 * kept: 0+5
 */
	.section .huge, "ax", @nobits
huge:
	.skip 0x100000000
	.text
	.globl func
	.type func, @function
func:
code:
	.skip 5, 0x90
	.size func, . - func

	/* Version 1, zR, code 1, data -8, RA 16, pcrel sdata8; CFA = rsp + 8, RA at CFA - 8. */
	.section .eh_frame, "a", @unwind
cie:
	.long cie_end - cie_body
cie_body:
	.long 0
	.byte 1
	.asciz "zR"
	.byte 1, 0x78, 16, 1, 0x1c
	.byte 0x0c, 7, 8, 0x90, 1
	.balign 8, 0
cie_end:

	.macro fde name, start, size, bytes:vararg
	.long \name\()_end - \name\()_body
\name\()_body:
	.long . - cie
	.quad \start - .
	.quad \size
	.uleb128 0
	.byte \bytes
	.balign 8, 0
\name\()_end:
	.endm

	fde all, huge, 0x100000000, 0x0e, 8
	fde one, code, 5, 0x0e, 8
	.section .note.GNU-stack, "", @progbits
