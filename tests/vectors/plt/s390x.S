/* SPDX-License-Identifier: MIT */
/* s390x in plts.txt says what this is. */
	.section .plt, "ax", @progbits
	.p2align 4
header:
	stg %r1, 56(%r15)
	larl %r1, slots
	mvc 48(8, %r15), 8(%r1)
	lg %r1, 16(%r1)
	br %r1
	nopr
	nopr
	nopr
	.irp n, 0, 1
	larl %r1, slots + 24 + 8 * \n
	lg %r1, 0(%r1)
	br %r1
	basr %r1, %r0
	lgf %r1, 12(%r1)
	jg header
	.long 24 * \n
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
