/* SPDX-License-Identifier: MIT */
/* What is stepped for what compilers write seldom: each form of an instruction, once or more. */
	.arch armv8.5-a+memtag+sve
	.text
	.globl _start
_start:	sub	sp, sp, #512; add x28, sp, #256
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17
	movz	x\n, #0x8421, lsl #48; movk x\n, #0x1234; movk x\n, #0x\n\()f5, lsl #16
	movk	x\n, #0x89ab, lsl #32; movk w\n, #0x4\n\()9, lsl #16
	.endr
	mov	x20, #8; mov x21, #-16; movn w22, #5; mov w22, #0xfff00fff

	/* Every way to name an address. */
	.irp	op, str, ldr
	\op	x1, [sp, #16]; \op w2, [sp, #24]; \op x3, [x28, x20]; \op x4, [x28, w21, sxtw]
	\op	x5, [x28, x20, lsl #3]; \op w6, [x28, w20, uxtw #2]; \op w7, [x28, x21, sxtx #2]
	\op	x9, [x28, xzr]; \op x10, [x28], #8; \op x11, [x28, #-24]!; \op w12, [x28], #-4
	\op	w13, [x28, #20]!; \op q0, [x28, #-32]!; \op d0, [x28], #32; \op b0, [x28, #3]
	\op	h0, [x28, x20, lsl #1]; \op xzr, [sp, #32]
	.endr
	.irp	op, stp, ldp
	\op	x1, x2, [sp, #-64]!; \op x3, xzr, [sp, #16]; \op w4, w5, [sp, #32]; \op x6, x7, [sp], #64
	\op	q0, q1, [x28, #-64]; \op d0, d1, [x28], #16; \op s0, s1, [x28, #-16]!
	.endr
	stp	x1, x2, [x28, #64]; add x9, x28, #64; stp x9, x9, [x28]; mov x9, x28; ldp x9, x10, [x9]
	mov	x9, x28; ldp x10, x9, [x9]; stnp x1, x2, [sp, #16]; ldnp x3, x4, [sp, #16]
	ldpsw	x5, x6, [sp, #16]; ldpsw x5, x6, [sp], #16; ldpsw x5, x6, [sp, #-16]!; stgp x1, x2, [sp, #32]
	stgp	x3, x4, [sp, #-32]!; stgp x5, x6, [sp], #32

	/* Narrow ones, by sign and zero. */
	ldrb	w1, [sp, #16]; ldrh w1, [sp, #16]; ldrsb w1, [sp, #16]; ldrsh w1, [sp, #16]; ldrsb x1, [sp, #16]
	ldrsh	x1, [sp, #16]; ldrsw x1, [sp, #16]; ldurb w1, [sp, #16]; ldursh w1, [sp, #16]
	ldtrb	w1, [sp, #16]; strb w1, [sp, #16]; strh w2, [sp, #16]; sturb w3, [sp, #16]; sturh w4, [sp, #16]
	sttr	x5, [sp, #16]; ldtr x6, [sp, #16]; ldtrsw x7, [sp, #16]; ldrsb w1, [sp], #1
	ldrsh	x1, [sp, #-1]!; ldrsb wzr, [sp]; ldrb w1, [x28, w20, uxtw]; ldr x1, =0x123456789abcdef
	ldr	w2, =0x87654321; ldrsw x3, =0x87654321; ldr d0, =0x4000; prfm pldl1keep, [sp]; mov x4, #0x1122
	str	x4, [sp, #40]; ldr x5, [sp, #40]

	/* Atomic ones. */
	ldxr	x1, [sp]; ldaxr w2, [sp]; ldar x3, [sp]; ldaxrb w4, [sp]; ldxrh w5, [sp]; stlr x6, [sp]
	stlrb	w7, [sp]; ldapr x9, [sp]; ldlar x10, [sp]; stllr x11, [sp]; ldxr x1, [sp]; stxr w2, x3, [sp]
	ldaxp	x4, x5, [sp]; stlxp w6, x7, x9, [sp]; ldxp w4, w5, [sp]; stxp w6, w7, w9, [sp]; ldaxrb w1, [sp]
	stlxrb	w2, w3, [sp]
	.irp	op, ldadd, ldclral, ldeora, ldsetl, ldsmax, ldumin, swp, swpal, cas, casal
	\op	x1, x2, [sp]; \op w3, w4, [x28]; \op\()b w5, w6, [x28]
	.endr
	stadd	x1, [sp]; casp x2, x3, x4, x5, [x28]; caspal w2, w3, w4, w5, [x28]; ldapur x1, [sp, #8]
	ldapursw x2, [sp, #4]; stlur x3, [sp, #-8]; stlurb w3, [sp, #-1]

	/* Vectors. */
	.irp	op, st1, ld1
	\op	{v0.16b}, [x28]; \op {v0.8b, v1.8b}, [x28], #16; \op {v0.4s - v3.4s}, [x28], x21
	\op	{v0.b}[3], [x28], #1; \op {v0.d}[1], [x28], x20; \op {v0.s}[1], [x28]
	.endr
	st4	{v0.2s - v3.2s}, [x28], #32; st2 {v0.h, v1.h}[2], [x28], #4; st3 {v0.s - v2.s}[1], [sp], #12
	sub	sp, sp, #12; ld1r {v0.4s}, [x28], #4; ld3r {v0.2d - v2.2d}, [x28], #24; add x28, sp, #256
	umov	w1, v0.b[3]; smov x2, v0.h[1]; fmov x3, d0; fmov d1, x3; fmov x4, v0.d[1]; fcvtzs x5, d0
	fcvtzu	w6, s0, #4; scvtf d0, x5; fcmp d0, d1; fccmp d0, d1, #3, eq; fjcvtzs w7, d0; cntb x1
	incd	x2, all, mul #2; sqdecw x3, w3; uqincp x4, p0.s; incp x5, p0.b; cntp x6, p0, p1.b
	lasta	x7, p0, z0.d; clastb w9, p0, w9, z0.s; rdvl x10, #3; addpl x11, sp, #-1; addvl sp, sp, #-2
	str	z0, [sp, #1, mul vl]; st1w z0.s, p0, [sp]; addvl sp, sp, #2; whilelo p0.b, x1, x2

	/* Tags, which are no more than bits of addresses here. */
	irg	x1, sp; addg x2, sp, #32, #3; subg x2, x2, #16, #1; gmi x3, x2, xzr; subp x4, x2, x1
	subps	x5, x1, x2; stg sp, [sp, #16]; st2g sp, [sp], #32; stzg sp, [sp, #-32]!; ldg x1, [sp]
	stz2g	sp, [sp]

	/* Moves, extensions and comparisons; SP and the zero register. */
	and	sp, x28, #~63; mov x28, sp; mov x9, #3
	.irp	first, 3, 2, 5
	cmp	x9, #\first
	.irp	cond, eq, ne, hi, hs, lo, ls, ge, vs
	b.\cond	.+8; nop
	.endr
	mov	x10, #\first; cmp w9, w10
	.irp	cond, eq, ne, hi, hs, lo, ls
	b.\cond	.+8; nop
	.endr
	subs	x11, x9, #\first
	.irp	cond, eq, hi, lo
	b.\cond	.+8; nop
	.endr
	cmp	x9, w10, uxtb; ccmp x9, #1, #3, ne; b.hi .+8; nop; subs x9, x9, #0; b.hi .+8; nop
	.endr
	cmp	sp, x9; b.hi .+8; nop; cmp xzr, x9; b.lo .+8; nop; tst x9, #1; cbz x9, .+8; cbnz w9, .+8; nop
	tbz	x9, #33, .+8; nop; tbnz w9, #0, .+8; nop; cset w1, eq; and w1, w2, #~7; and w3, w4, #~0xfff
	sub	x1, x2, w3, uxth #4; sub x4, sp, w5, sxtb #2; add w6, w7, w9, uxtb #1; csel x2, x3, x4, lo
	bfi	x2, x3, #4, #8; extr x2, x3, x4, #7; madd x2, x3, x4, x5; udiv x2, x3, x4; adc x2, x3, x4
	sbcs	x2, x3, x4; mrs x1, tpidr_el0; msr tpidr_el0, x1; mrs x1, nzcv; msr nzcv, x1; dc zva, x28
	dmb	ish; bti c

	/* Signed addresses. */
	adr	x30, 1f; paciasp; pacia x1, x2; autia x1, x2; paciza x3; xpaci x3; pacga x4, x1, x2; autiasp
	paciasp; xpaclri; pacibz; autibz; mov x17, x28; pacia1716; autia1716; paciasp; retaa
1:	adr	x1, 2f; paciza x1; blraaz x1; adr x1, 3f; br x1
2:	bti	c; paciasp; stp x29, x30, [sp, #-16]!; adr x30, 4f; blr x30
4:	bl	.+4; ldp x29, x30, [sp], #16; retaa
3:	adr	x5, 5f; ret x5
5:	mov	x0, #0; mov x8, #93; svc #0
