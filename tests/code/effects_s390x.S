/* SPDX-License-Identifier: MIT */
/* Instructions that compilers and the C library seldom use, or never. */
	.machine "arch14"
	.text
	.globl _start
_start:	lay	%r15, -4096(%r15); larl %r9, constants; lgr %r11, %r15; lghi %r1, -3; lghi %r3, 5
	llihf	%r4, 0x12345678; lgfi %r5, -77777
	/* Ranges of registers, around the last one and with their base among them. */
	stmg	%r14, %r2, 100(%r15); stmg %r0, %r15, 256(%r15); lmg %r0, %r15, 256(%r15)
	lmg	%r14, %r2, 256+112(%r15); stmg %r15, %r15, 256(%r15); lmg %r0, %r2, 256+8(%r15); lgr %r2, %r15
	lmg	%r1, %r3, 256+8(%r2); stm %r1, %r8, 800(%r15); lm %r1, %r3, 800(%r15); stmy %r1, %r3, -8(%r15)
	lmy	%r5, %r8, -8(%r15); stmh %r1, %r4, 800(%r15); lmh %r1, %r4, 808(%r15)
	/* Results that are told. */
	lghi	%r3, -5; lgfr %r1, %r3; llgfr %r1, %r3; lgbr %r1, %r3; lghr %r1, %r3; llgcr %r1, %r3
	llghr	%r1, %r3; ltgfr %r1, %r3; agfr %r1, %r3; algfr %r1, %r3; agf %r1, 800(%r15); lghi %r1, -8
	agf	%r1, 808(%r1, %r15); sgfr %r1, %r3; slgr %r1, %r3; agrk %r1, %r3, %r4; sgrk %r1, %r3, %r4
	algrk	%r1, %r3, %r4; slgrk %r1, %r3, %r4; aghik %r1, %r3, -1000; alghsik %r1, %r3, -1000
	agfi	%r1, -1000000; algfi %r1, 0xf0000000; slgfi %r1, 0xf0000000; slgfi %r1, 5; llill %r1, 0xfffe
	llilh	%r1, 0xfffe; llihl %r1, 0xfffe; llihh %r1, 0xfffe; llilf %r1, 0xfffffffe; lgfi %r1, -2
	nill	%r1, 0xfff8; nilf %r1, 0xfffffff0; nilf %r1, 0xfff0000f; nihf %r1, 1; nilh %r1, 0xfff8
	xgr	%r1, %r4; xgr %r1, %r1; risbg %r1, %r4, 0, 128+47, 0; risbg %r1, %r4, 32, 128+60, 3
	risbg	%r1, %r4, 60, 128+63, 17; risbg %r1, %r4, 10, 128+50, 17; risbg %r1, %r4, 50, 128+10, 0
	risbg	%r1, %r4, 0, 128+63, 0; risbg %r1, %r4, 3, 10, 9; risbgn %r1, %r4, 63, 128+63, 0
	risbhg	%r1, %r4, 0, 31, 5; risblg %r1, %r4, 0, 31, 5; rosbg %r1, %r4, 4, 9, 5; sllg %r1, %r4, 63
	sllg	%r1, %r4, 5(%r3); srlg %r1, %r4, 1; srlg %r1, %r4, 64; la %r1, 1(%r3, %r4); la %r1, 77
	la	%r1, 77(%r3, %r0); lay %r1, -524288(%r3); lgf %r1, 0(%r9); lgh %r1, 0(%r9); lgb %r1, 0(%r9)
	llgf	%r1, 0(%r9); llgh %r1, 0(%r9); llgc %r1, 0(%r9); lgrl %r1, constants; lgfrl %r1, constants
	lghrl	%r1, constants; llghrl %r1, constants; llgfrl %r1, constants; lrl %r1, constants
	ltg	%r1, 0(%r9); ldgr %f3, %r4; ldgr %f15, %r3; ldr %f6, %f3; lgdr %r1, %f6; lgdr %r1, %f15
	lzdr	%f3; stdy %f15, -16(%r15); lg %r1, -16(%r15); ldy %f9, -16(%r15); le %f9, 0(%r9)
	stey	%f9, -16(%r15)
	/* Pairs. */
	lghi	%r2, 0; lghi %r3, 1000; lghi %r5, 7; dlgr %r2, %r5; dsgr %r2, %r5; dsgfr %r2, %r5; lghi %r2, 0
	dlr	%r2, %r5; lghi %r2, 0; dr %r2, %r5; mlgr %r2, %r5; mlr %r2, %r5; mr %r2, %r5; flogr %r2, %r5
	srdl	%r2, 5; slda %r2, 3; lpq %r2, 0(%r9); stpq %r2, 800(%r15); lpdg %r6, 0(%r9), 8(%r9)
	/* In memory. */
	cs	%r2, %r3, 800(%r15); csg %r2, %r3, 800(%r15); csg %r2, %r3, 800(%r15); cdsg %r2, %r4, 800(%r15)
	cds	%r2, %r4, 808(%r15); laa %r1, %r3, 800(%r15); laag %r1, %r3, 800(%r15); lax %r1, %r3, 804(%r15)
	lg	%r1, 800(%r15); asi 800(%r15), 1; agsi 800(%r15), -1; oi 803(%r15), 0x80; lg %r1, 800(%r15)
	mvghi	800(%r15), -1; lg %r1, 800(%r15); stcm %r3, 9, 800(%r15); stcmh %r3, 6, 804(%r15)
	lg	%r1, 800(%r15); icm %r1, 5, 0(%r9); icmh %r1, 5, 0(%r9); cvd %r3, 800(%r15); stck 800(%r15)
	lg	%r1, 800(%r15); stcke 800(%r15); lg %r1, 808(%r15); lghi %r0, 1; stfle 800(%r15)
	mvi	800(%r15), 7; mvc 801(255, %r15), 800(%r15); lg %r1, 1000(%r15); xc 800(256, %r15), 800(%r15)
	lg	%r1, 1040(%r15); tr 800(4, %r15), 0(%r9); trt 800(4, %r15), 0(%r9); stoc %r1, 800(%r15), 8
	/* May write. */
	cgr	%r3, %r3; locgr %r1, %r3, 8; locgr %r1, %r3, 6; locg %r1, 0(%r9), 8; locghi %r1, 55, 6
	locr	%r1, %r4, 8; popcnt %r1, %r4; lrvgr %r1, %r4; ipm %r1; ear %r1, %a0; sar %a2, %r1; efpc %r1
	stfpc	800(%r15)
	/* Floating point, and vectors over it. */
	cdgbr	%f1, %r3; cxgbr %f4, %r3; adbr %f1, %f1; axbr %f4, %f4; sqxbr %f0, %f4; lxdbr %f8, %f1
	madbr	%f2, %f1, %f1; madb %f3, %f1, 0(%r9); cgdbr %r1, 5, %f1; cfxbr %r1, 5, %f4; kdbr %f1, %f2
	tcdb	%f1, 0xff; vl %v3, 0(%r9); vl %v19, 0(%r9); vst %v19, 800(%r15); lg %r1, 808(%r15)
	vlm	%v14, %v17, 0(%r9); vstm %v14, %v17, 800(%r15); lg %r1, 856(%r15); vlgvg %r1, %v3, 1
	vlvgg	%v5, %r3, 0; vlvgp %v8, %r3, %r4; vaf %v1, %v2, %v3; vceqbs %v1, %v2, %v3; vlrep %v12, 0(%r9), 3
	vsteg	%v12, 800(%r15), 1; vfenezbs %v1, %v2, %v3; vzero %v13; lcbb %r1, 0(%r9), 6
	/* Where control goes. */
	lghi	%r1, -1; lghi %r3, 3
1:	brct	%r3, 1b; lghi %r3, 3
1:	brctg	%r3, 1b; lghi %r3, 2; larl %r1, 1f
1:	bctgr	%r3, %r1; larl %r1, 1f; bct %r1, 0(%r1)
1:	bctr	%r1, %r0; lghi %r2, 1; lghi %r4, 2; lghi %r5, 5
1:	brxle	%r2, %r4, 1b
1:	brxhg	%r4, %r2, 2f
2:	bras	%r13, 1f; .quad 0x1122334455667788
1:	lg	%r1, 0(%r13); basr %r13, %r0; larl %r1, 1f; basr %r1, %r1; .long 0
1:	larl	%r1, 1f; basr %r14, %r1
1:	larl	%r14, 1f; basr %r14, %r14
1:	larl	%r1, 1f; bas %r14, 0(%r1)
1:	larl	%r1, 1f-8; b 8(%r1); .long 0
1:	lghi	%r3, 4; larl %r1, 1f-8; b 4(%r3, %r1); .long 0
1:	brasl	%r0, 1f; .long 0
1:	larl	%r14, 1f; br %r14; .long 0
	/* Comparisons, and branches on them. */
1:	lghi	%r2, -1; lghi %r3, 1; clgr %r2, %r3; jh 1f
1:	clgr	%r2, %r3; jle 1f
1:	clr	%r3, %r2; jl 1f
1:	clgfi	%r3, 0xffffffff; jhe 1f
1:	clfi	%r2, 0xffffffff; je 1f
1:	clfi	%r2, 0xffffffff; jne 1f
1:	clgfi	%r3, 5; cghi %r2, 3; jl 1f
1:	clgrj	%r2, %r3, 2, 1f; .long 0
1:	clgrj	%r2, %r3, 12, 1f
1:	cgrj	%r2, %r3, 2, 1f
1:	cgrj	%r2, %r3, 6, 1f
1:	cij	%r2, -1, 8, 1f
1:	cgij	%r2, -1, 8, 1f
1:	cgij	%r2, -1, 6, 1f
1:	clij	%r2, 255, 2, 1f
1:	clij	%r3, 255, 4, 1f
1:	clgij	%r2, 255, 12, 1f
	/* The code of the first comparison is still there. */
1:	clgr	%r2, %r3; clgij %r3, 255, 2, 1f
1:	jh	1f; .long 0
1:	clgrj	%r2, %r3, 14, 1f; .long 0
1:	larl	%r1, 1f; cgrb %r2, %r2, 8, 0(%r1); .long 0
1:	larl	%r1, 1f-16; clgib %r3, 4, 4, 16(%r1); .long 0
	.balign	16
1:	crt	%r2, %r3, 8; clgrt %r2, %r3, 4; lghi %r4, 7; exrl %r4, 1f; exrl %r4, 2f; larl %r1, 1f
	ex	%r4, 0(%r1); j 3f
1:	mvc	800(1, %r15), 0(%r9)
2:	clc	800(1, %r15), 0(%r9)
3:	lg	%r1, 800(%r15); nopr %r7; bcr 14, %r0; lghi %r2, 0; svc 1

	.section .rodata
	.balign	16
constants: .quad	0x8192a3b4c5d6e7f8, 0x0102030405060708; .fill 32, 8, 0x8877665544332211
