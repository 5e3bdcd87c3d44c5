/* SPDX-License-Identifier: MIT */
/*
 * Macros for vectors that write records byte by byte. They go to .cfi_bytes, which the test
 * reads instead of .eh_frame, because assemblers and linkers repair or refuse what is damaged.
 */
	.text
	.globl func
	.type func, @function
func:
	.zero 0x100
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
	.section .cfi_bytes, "a", @progbits
	.balign 8

	/* The length of a record up to "end", then its contents. */
	.macro begin name
\name:
	.long \name\()_end - \name\()_body
\name\()_body:
	.endm

	.macro end name
	.balign 4, 0
\name\()_end:
	.endm

	/* A CIE up to its augmentation: id, version, string, code 1, data -8, RA 16. */
	.macro cie_head name, version, augmentation
	begin \name
	.long 0
	.byte \version
	.asciz "\augmentation"
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.endm

	/* CFA = rsp + 8, RA = *(CFA - 8), then the end of the record. */
	.macro usual_rules name
	.byte 0x0c, 7, 8, 0x90, 1
	end \name
	.endm

	/* The CIE of every compiler: zR, pcrel sdata4. */
	.macro usual_cie name
	cie_head \name, 1, zR
	.uleb128 1
	.byte 0x1b
	usual_rules \name
	.endm

	/* An FDE of usual_cie up to its instructions: bytes func+offset .. +size. */
	.macro fde name, cie, offset, size
	begin \name
	.long . - \cie
	.long func + \offset - .
	.long \size
	.uleb128 0
	.endm
