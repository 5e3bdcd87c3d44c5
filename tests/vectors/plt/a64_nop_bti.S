/* SPDX-License-Identifier: MIT */
/* a64_nop_bti in plts.txt says what this is. */
	.section .plt, "ax", %progbits
	.p2align 4
	bti c
	stp x16, x30, [sp, #-16]!
	adrp x16, slots + 0
	ldr x17, [x16, :lo12:slots + 0]
	nop
	br x17
	nop
	nop
	bti c
	adrp x16, slots + 0
	ldr x17, [x16, :lo12:slots + 0]
	nop
	br x17
	nop
	bti c
	adrp x16, slots + 8
	ldr x17, [x16, :lo12:slots + 8]
	add x16, x16, :lo12:slots + 8
	br x17
	nop
	bti c
	stp x2, x3, [sp, #-16]!
	adrp x2, slots + 32
	adrp x3, slots
	ldr x2, [x2, :lo12:slots + 32]
	nop
	br x2
	nop
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	ret
	.cfi_endproc
	.size func, . - func
	.section .slots, "aw", %progbits
	.p2align 12
slots:
	.skip 64
