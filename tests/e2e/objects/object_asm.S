/* SPDX-License-Identifier: MIT */
/* CFI by hand: in .text and in a section of its own; code without any in between. */
	.text
	.globl	asm_twice
	.type	asm_twice, @function
asm_twice: .cfi_startproc; push %rbx; .cfi_def_cfa_offset 16; .cfi_offset %rbx, -16; push %rbp
	.cfi_def_cfa_offset 24; .cfi_offset %rbp, -24; sub $8, %rsp; .cfi_def_cfa_offset 32; mov %rdi, %rbx
	mov	%esi, %ebp; mov %ebp, %edi; call *%rbx; mov %eax, %edi; call *%rbx; add $8, %rsp
	.cfi_def_cfa_offset 24; pop %rbp; .cfi_restore %rbp; .cfi_def_cfa_offset 16; pop %rbx; .cfi_restore %rbx
	.cfi_def_cfa_offset 8; ret; .cfi_endproc; .size asm_twice, . - asm_twice

asm_silent: ret; nop

	.section .text.by_hand, "ax", @progbits
	.globl	asm_other
	.type	asm_other, @function
asm_other: .cfi_startproc; push %rbp; .cfi_def_cfa_offset 16; .cfi_offset %rbp, -16; mov %rsp, %rbp
	.cfi_def_cfa_register %rbp; mov %esi, %eax; mov %rdi, %rdx; mov %eax, %edi; call *%rdx; pop %rbp
	.cfi_def_cfa %rsp, 8; .cfi_restore %rbp; ret; .cfi_endproc; .size asm_other, . - asm_other
	.section .note.GNU-stack, "", @progbits
