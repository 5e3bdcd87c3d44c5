/* SPDX-License-Identifier: MIT */
/* a64_mold_2 in plts.txt says what this is. */
	.section .plt, "ax", %progbits
	.p2align 4
	stp x16, x30, [sp, #-16]!
	adrp x16, slots + 16
	ldr x17, [x16, :lo12:slots + 16]
	add x16, x16, :lo12:slots + 16
	br x17
	.rept 3
	brk #1000
	.endr
	.irp n, 24, 32
	adrp x16, slots + \n
	ldr x17, [x16, :lo12:slots + \n]
	add x16, x16, :lo12:slots + \n
	br x17
	.endr
	.section .plt.got, "ax", %progbits
	.p2align 4
	adrp x16, slots + 40
	ldr x17, [x16, :lo12:slots + 40]
	br x17
	brk #1000
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	ret
	.cfi_endproc
	.size func, . - func
	.data
	.p2align 3
slots:
	.skip 48
