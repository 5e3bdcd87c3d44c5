/* SPDX-License-Identifier: MIT */
/* Row starts of 1, 2 and 4 bytes, offsets of 1, 2 and 4 bytes. */
	.text
	.macro function name, bytes, frame
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.skip \bytes, 0x90
	.cfi_def_cfa_offset \frame
	.skip 8, 0x90
	.cfi_endproc
	.size \name, . - \name
	.endm

	function byte_byte, 255, 127
	function short_short, 256, 128
	function short_int, 65535, 32768
	function int_int, 65536, 0x7fffffff
	.section .note.GNU-stack, "", @progbits
