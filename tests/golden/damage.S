/* SPDX-License-Identifier: MIT */
/* Records that are lost: an FDE said twice, one without code, one of another CIE, two bad programs. */
	.text
	.globl func
	.type func, @function
func:
code:
	.skip 48, 0x90
	.size func, . - func

	.section .eh_frame, "a", @unwind
	.macro begin name
	.long \name\()_end - \name\()_body
\name\()_body:
	.endm
	.macro end name
	.balign 4, 0
\name\()_end:
	.endm
	.macro fde name, start, size, bytes:vararg
	begin \name
	.long . - cie
	.long code + \start - .
	.long \size
	.byte 0, \bytes
	end \name
	.endm

cie:
	begin cie
	.long 0
	.byte 1
	.asciz "zR"
	.byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
	end cie
	fde usual, 0, 8, 0x41, 0x0e, 16
	fde again, 0, 8, 0x41, 0x0e, 16
	fde nothing, 8, 0, 0
	fde unknown, 8, 8, 0x3e
	fde truncated, 16, 8, 0x0e, 0x80, 0x80 /* no padding behind */
	begin lost
	.long . - usual_body /* not a CIE */
	.long code + 24 - .
	.long 8
	.byte 0
	end lost
	fde last, 32, 16, 0
	.section .note.GNU-stack, "", @progbits
