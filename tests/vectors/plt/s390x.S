/* SPDX-License-Identifier: MIT */
/*
 * The build assembles this file once for each NAME of an .ifdef, with the symbol NAME defined. calls and
 * got are for linkers to give a PLT; plts.txt says what the others are.
 */
	.macro plt name
	.section \name, "ax", @progbits
	.p2align 4
	.endm

	.macro function calls:vararg
	.text
	.globl func
	.type func, @function
func:	.cfi_startproc
	.irp name, \calls
	.ifnb \name; brasl %r14, \name@PLT
	.endif
	.endr
	.ifdef got
	lgrl %r1, third@GOTENT
	.endif
	br %r14; .cfi_endproc; .size func, . - func
	.endm

	/* What a PLT that is here needs besides: a function, and slots. */
	.macro by_hand
	function
	.data
	.p2align 3
slots:	.skip 40
	.endm

	/* How every header ends. */
	.macro header
	larl %r1, slots; mvc 48(8, %r15), 8(%r1); lg %r1, 16(%r1); br %r1
	.endm

	.ifdef calls
	function first, second
	.endif

	/* A function that is called and whose address is taken from the GOT. */
	.ifdef got
	function first, second, third
	.endif

	.ifdef gnu
	plt .plt
first_stub: stg %r1, 56(%r15); header; nopr; nopr; nopr
	.irp n, 0, 1
	larl %r1, slots + 24 + 8 * \n; lg %r1, 0(%r1); br %r1; basr %r1, %r0; lgf %r1, 12(%r1); jg first_stub
	.long 24 * \n
	.endr
	by_hand
	.endif

	/* mold fills up with "filler" after the header, and after each entry with "short_filler". */
	.macro mold filler, short_filler
	plt .plt; sgr %r0, %r1; aghi %r0, -62; srlg %r1, %r0, 1; agr %r0, %r1; stg %r0, 56(%r15); header
	\filler
	.irp n, 24, 32
	larl %r1, slots + \n; lg %r1, 0(%r1); basr %r0, %r1; \short_filler
	.endr
	.endm

	.ifdef mold_2
	mold "nopr; nopr", nopr; by_hand
	.endif

	.ifdef mold_241
	mold ".long 0", ".short 0"; plt .plt.got; larl %r1, slots; lg %r1, 0(%r1); br %r1; .short 0; by_hand
	.endif
