/* SPDX-License-Identifier: MIT */
/* s390x_mold_2 in plts.txt says what this is. */
	.section .plt, "ax", @progbits
	.p2align 4
	sgr %r0, %r1
	aghi %r0, -62
	srlg %r1, %r0, 1
	agr %r0, %r1
	stg %r0, 56(%r15)
	larl %r1, slots
	mvc 48(8, %r15), 8(%r1)
	lg %r1, 16(%r1)
	br %r1
	nopr
	nopr
	.irp n, 24, 32
	larl %r1, slots + \n
	lg %r1, 0(%r1)
	basr %r0, %r1
	nopr
	.endr
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	br %r14
	.cfi_endproc
	.size func, . - func
	.data
	.p2align 3
slots:
	.skip 40
