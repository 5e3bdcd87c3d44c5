/* SPDX-License-Identifier: MIT */
/*
 * A program of its own for AArch64, either byte order: calls down to a leaf, with return
 * addresses signed on the way, and says so. The .bss makes room for mistakes behind the
 * file's bytes.
 */
	.text
	.globl _start
	.type _start, %function
_start:	.cfi_startproc; .cfi_undefined 30; bl outer; mov x8, #93		/* exit */
	svc	#0; .cfi_endproc; .size _start, . - _start

	.type outer, %function
outer:	.cfi_startproc; hint #25		/* paciasp */
	.cfi_negate_ra_state; stp x29, x30, [sp, #-32]!; .cfi_def_cfa_offset 32; .cfi_offset 29, -32
	.cfi_offset 30, -24; mov x29, sp; .cfi_def_cfa_register 29; bl middle; ldp x29, x30, [sp], #32
	.cfi_restore 30; .cfi_restore 29; .cfi_def_cfa 31, 0; hint #29		/* autiasp */
	.cfi_negate_ra_state; ret; .cfi_endproc; .size outer, . - outer

	.type middle, %function
middle:	.cfi_startproc; .cfi_b_key_frame; hint #27		/* pacibsp */
	.cfi_negate_ra_state; str x30, [sp, #-16]!; .cfi_def_cfa_offset 16; .cfi_offset 30, -16; adr x1, text
	bl	leaf; ldr x30, [sp], #16; .cfi_restore 30; .cfi_def_cfa_offset 0
	hint	#31		/* autibsp */
	.cfi_negate_ra_state; ret; .cfi_endproc; .size middle, . - middle

	.type leaf, %function
leaf:	.cfi_startproc; mov x0, #1; mov x2, #5; mov x8, #64		/* write */
	svc	#0; adrp x1, counter; add x1, x1, #:lo12:counter; ldr x0, [x1]; ret; .cfi_endproc
	.size leaf, . - leaf

text:	.ascii "fine\n"

	.bss
counter: .skip 300000
