/* SPDX-License-Identifier: MIT */
/* The build assembles this file once for each NAME of an .ifdef, with the symbol NAME defined. */
	.macro plt name
	.section \name, "ax", @progbits
	.p2align 4
	.endm

	/* A function, around "calls". */
	.macro function calls:vararg
	.text
	.globl func
	.type func, @function
func:	.cfi_startproc; \calls; ret; .cfi_endproc; .size func, . - func
	.endm

	.macro calls names:vararg
	.irp name, \names
	call \name@plt
	.endr
	.endm

	.ifdef calls
	function calls first, second, third
	.endif

	.ifdef single
	function calls first
	.endif

	/* Two functions that are called and whose addresses are taken from the GOT. */
	.macro taken names:vararg
	.irp name, \names
	mov \name@GOTPCREL(%rip), %rax; call \name@plt
	.endr
	.endm
	.ifdef got
	function taken first, second
	.endif

	.ifdef mold_23
	plt .plt; endbr64; push %r11; push slots + 8(%rip); jmp *slots + 16(%rip); .fill 14, 1, 0xcc
	mov $0, %r11d; jmp *slots + 24(%rip); .fill 4, 1, 0xcc; endbr64; mov $1, %r11d; jmp *slots + 32(%rip)
	mov $2, %r11d; jmp *slots + 40(%rip); .fill 4, 1, 0xcc; plt .plt.got; jmp *slots + 48(%rip)
	.fill 2, 1, 0xcc; jmp *slots + 56(%rip); .fill 2, 1, 0xcc; function
	.data
	.p2align 3
slots:	.skip 64
	.endif
	.section .note.GNU-stack, "", @progbits
