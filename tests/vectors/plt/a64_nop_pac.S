/* SPDX-License-Identifier: MIT */
/* a64_nop_pac in plts.txt says what this is. */
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
	adrp x16, slots + 0
	ldr x17, [x16, :lo12:slots + 0]
	nop
	autia1716
	br x17
	nop
	bti c
	adrp x16, slots + 0
	ldr x17, [x16, :lo12:slots + 0]
	nop
	autia1716
	br x17
	bti c
	adrp x16, slots + 8
	ldr x17, [x16, :lo12:slots + 8]
	add x16, x16, :lo12:slots + 8
	autia1716
	br x17
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
