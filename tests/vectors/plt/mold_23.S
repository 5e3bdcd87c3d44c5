/* SPDX-License-Identifier: MIT */
/* mold_23 in plts.txt says what this is. */
	.section .plt, "ax", @progbits
	.p2align 4
	endbr64
	push %r11
	push slots + 8(%rip)
	jmp *slots + 16(%rip)
	.fill 14, 1, 0xcc
	mov $0, %r11d
	jmp *slots + 24(%rip)
	.fill 4, 1, 0xcc
	endbr64
	mov $1, %r11d
	jmp *slots + 32(%rip)
	mov $2, %r11d
	jmp *slots + 40(%rip)
	.fill 4, 1, 0xcc
	.section .plt.got, "ax", @progbits
	.p2align 3
	jmp *slots + 48(%rip)
	.fill 2, 1, 0xcc
	jmp *slots + 56(%rip)
	.fill 2, 1, 0xcc
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	ret
	.cfi_endproc
	.size func, . - func
	.data
	.p2align 3
slots:
	.skip 64
	.section .note.GNU-stack, "", @progbits
