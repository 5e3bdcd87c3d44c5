/* SPDX-License-Identifier: MIT */
/* Code with ORC tables as Linux 6.1 has them: a static program without a library, or an object. .orc_tables has
 * both tables in one, for fuzz_orc: its first byte says how they are read. */
	.section .modinfo, "a", @progbits
	.asciz	"vermagic=6.1.0 SMP"
	.section .rodata, "a", @progbits
	.asciz	"Linux version 6.1.0"

	.macro	orc flags, sp_offset, bp_offset
	.pushsection .orc_unwind_ip, "a", @progbits
	.long	9990f - .
	.popsection
	.pushsection .orc_unwind, "a", @progbits
	.short	\sp_offset, \bp_offset, \flags
	.popsection
9990:
	.endm

	.text
	.globl	_start
	.type	_start, @function
_start:
	orc	0x400, 0, 0
	call	framed
	call	aligned
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	ud2
	.size	_start, .-_start
	orc	0, 0, 0
	.p2align 4
	.type	framed, @function
framed:
	orc	0x05, 8, 0
	push	%rbp
	orc	0x15, 16, -16
	mov	%rsp, %rbp
	orc	0x14, 16, -16
	leave
	orc	0x05, 8, 0
	ret
	.size	framed, .-framed
	orc	0, 0, 0
	.p2align 4
	.type	aligned, @function
aligned:
	orc	0x05, 8, 0
	lea	8(%rsp), %r10
	orc	0x06, 0, 0
	and	$-32, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	orc	0x46, 0, 0
	push	%r10
	orc	0x48, -8, 0
	pop	%r10
	orc	0x46, 0, 0
	pop	%rbp
	orc	0x06, 0, 0
	lea	-8(%r10), %rsp
	orc	0x05, 8, 0
	ret
	.size	aligned, .-aligned
	orc	0, 0, 0
	.p2align 4
	.type	entry, @function
entry:
	orc	0x205, 0, 0
	sub	$128, %rsp
	orc	0x105, 0, 0
	add	$128, %rsp
	orc	0x209, 8, 0
	iretq
	.size	entry, .-entry
	orc	0, 0, 0

	/* Distances that suit the target, which has code from 0x1000 on, and these at 0x40000. */
	.section .orc_tables, "a", @progbits
	.byte	0
	.long	0x1000 - 0x40000, 0x1004 - 0x40004, 0x1010 - 0x40008, 0x1014 - 0x4000c
	.long	0x1020 - 0x40010, 0x1028 - 0x40014, 0x1030 - 0x40018, 0x1034 - 0x4001c
	.short	8, 0, 0x05, 16, -16, 0x14, -40, 0, 0x48, 0, 0, 0
	.short	0, 0, 0x105, 8, 0, 0x202, 16, 0, 0x09, 0, 0, 0x400

	.section .note.GNU-stack, "", @progbits
