/* SPDX-License-Identifier: MIT */
/* A static program without a library that has a table of Go, as Go 1.20 and newer write it: written by hand. */
	.text
	.globl	_start
_start:
	call	framed
	call	leaf
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	ud2
	.p2align 4
framed:
	push	%rbp
1:	mov	%rsp, %rbp
	sub	$16, %rsp
2:	call	leaf
	add	$16, %rsp
3:	pop	%rbp
4:	ret
framed_end:
	.p2align 4
leaf:
	ret
leaf_end:
	.p2align 4
switches:
	and	$-16, %rsp
	ret
text_end:

	.section .gopclntab, "a"
	.p2align 5
table:
	.long	0xfffffff1
	.byte	0, 0, 1, 8
	.quad	4, 0
	.quad	_start
	.quad	names - table, names - table, names - table, levels - table, list - table
names:
name_top:	.asciz "runtime.rt0_go"
name_framed:	.asciz "main.framed"
name_leaf:	.asciz "main.leaf"
name_switches:	.asciz "runtime.mcall"
levels:
	.byte	0
levels_top:
	.byte	2, framed - _start, 0
levels_framed:
	.byte	2, 1b - framed, 16, 2b - 1b, 32, 3b - 2b, 31, 4b - 3b, 15, framed_end - 4b, 0
levels_leaf:
	.byte	2, leaf_end - leaf, 0
levels_switches:
	.byte	2, text_end - switches, 0
	.p2align 3
list:
	.long	0, record_top - list
	.long	framed - _start, record_framed - list
	.long	leaf - _start, record_leaf - list
	.long	switches - _start, record_switches - list
	.long	text_end - _start

	.macro	record at, name, levels, flags
	.long	\at - _start, \name - names, 0, 0, \levels - levels, 0, 0, 0, 0, 0
	.byte	0, \flags, 0, 0
	.endm
record_top:
	record	_start, name_top, levels_top, 1
record_framed:
	record	framed, name_framed, levels_framed, 0
record_leaf:
	record	leaf, name_leaf, levels_leaf, 0
record_switches:
	record	switches, name_switches, levels_switches, 2
