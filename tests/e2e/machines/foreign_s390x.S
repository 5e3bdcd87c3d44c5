/* SPDX-License-Identifier: MIT */
/*
 * A program of its own for s390x: a function that saves r14 and r15 in the register save
 * area, one that keeps r14 in a floating point register, and a leaf.
 */
	.text
	.globl _start
	.type _start, @function
_start:	.cfi_startproc; .cfi_undefined 14; aghi %r15, -160; brasl %r14, outer
	lghi	%r1, 1		/* exit */
	svc	0; .cfi_endproc; .size _start, . - _start

	.type outer, @function
outer:	.cfi_startproc; stmg %r11, %r15, 88(%r15); .cfi_offset 11, -72; .cfi_offset 12, -64; .cfi_offset 13, -56
	.cfi_offset 14, -48; .cfi_offset 15, -40; aghi %r15, -160; .cfi_def_cfa_offset 320; lgr %r11, %r15
	.cfi_def_cfa_register 11; brasl %r14, middle; lmg %r11, %r15, 248(%r11); .cfi_restore 15
	.cfi_restore 14; .cfi_restore 13; .cfi_restore 12; .cfi_restore 11; .cfi_def_cfa 15, 160; br %r14
	.cfi_endproc; .size outer, . - outer

	.type middle, @function
middle:	.cfi_startproc; ldgr %f0, %r14; .cfi_register 14, 16; brasl %r14, leaf; lgdr %r14, %f0; .cfi_restore 14
	br	%r14; .cfi_endproc; .size middle, . - middle

	.type leaf, @function
leaf:	.cfi_startproc; lghi %r2, 1; larl %r3, text; lghi %r4, 5; lghi %r1, 4		/* write */
	svc	0; larl %r1, counter; lg %r2, 0(%r1); br %r14; .cfi_endproc; .size leaf, . - leaf

	.p2align 1
text:	.ascii "fine\n"

	.bss
counter: .skip 300000
