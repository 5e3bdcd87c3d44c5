/* SPDX-License-Identifier: MIT */
/*
 * mold 2.41 fills up with zeros. By hand: every release assembles it.
 * plt: .plt+0 size=48: 0 sp+160
 * plt: .plt+48 size=32 rep=16: 0 sp+160
 * plt: .plt.got+0 size=16: 0 sp+160
 * plt: template 96 bytes
 */
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
	.long 0
	.irp n, 24, 32
	larl %r1, slots + \n
	lg %r1, 0(%r1)
	basr %r0, %r1
	.short 0
	.endr
	.section .plt.got, "ax", @progbits
	.p2align 4
	larl %r1, slots
	lg %r1, 0(%r1)
	br %r1
	.short 0
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
