/* SPDX-License-Identifier: MIT */
/* A static program without a library, for mutation: one function per idea, in few bytes. */
	.text
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined %rip
	call	plain
	call	framed
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.cfi_endproc
	.size	_start, . - _start

	.type	plain, @function
plain:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	plain, . - plain

	.type	framed, @function
framed:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_restore_state
	nop
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	framed, . - framed

	/* As the linker describes a lazy PLT: rsp + 8 + (((rip & 15) >= 11) << 3). */
	.balign	16
	.type	stubs, @function
stubs:
	.cfi_startproc
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.rept	4
	jmp	*0(%rip)
	push	$1
	jmp	stubs
	.balign	16
	.endr
	.cfi_endproc
	.size	stubs, . - stubs
