/* SPDX-License-Identifier: MIT */
/* What is stepped for what compilers write seldom: each form of an instruction, once or more. */
	.text
	.globl _start
_start:	mov	%rsp, %rbp; sub $1024, %rsp; and $-64, %rsp; lea 512(%rsp), %r13
	.irp	n, rax, rbx, rcx, rdx, rsi, rdi, r8, r9, r10, r11, r12, r14, r15
	movabs	$0x8421f5ab12348967, %\n; rol $7, %\n
	.endr

	/* The stack. */
	.irp	n, rax, rbx, rcx, rsp, rbp, rsi, r8, r12, r13, r15
	push	%\n
	.endr
	pop	%rax; pop %rbx; push (%rsp); push 8(%rsp); pop (%rsp); pop 8(%rsp); push %rsp; pop %rsp
	push	$-1; push $0x12345678; pushw $0x1234; push %ax; pop %cx; popw (%rsp); pushfq; popfq; pushfw
	popfw; push %fs; pop %fs; push %rbp; mov %rsp, %rbp; sub $32, %rsp; leave; push $0; mov %rsp, %rbp
	.byte	0x66, 0xc9; mov %r13, %rsp; mov %sp, %ax; push %ax; pop %sp; mov %r13, %rsp
	lea	1024(%r13), %rbp; xchg %rax, %rbp; xchg %rbp, %rax; xchg %rsp, %r14; xchg %rsp, %r14
	lea	-512(%r13), %rsp

	/* mov, by width and place. */
	.irp	n, rax, eax, ax, al, ah, r9, r9d, r9w, r9b
	mov	%\n, 16(%rsp); mov 16(%rsp), %\n; mov $0x45, %\n
	.endr
	movabs	$-0x123456789abcdef, %r11; mov %r11, %rdx; mov %edx, %ecx; mov %cx, %bx; mov %bh, %cl
	mov	%cl, %dh; mov $2, %r12d; mov %rdx, (%rsp,%r12,8); mov (%rsp,%r12,8), %r10; mov %rdx, 64(%rsp)
	mov	64(%rsp), %r9; mov %r9, here(%rip); mov here(%rip), %r8; mov here, %edi; lea here(%rip), %esi
	mov	(%esi), %esi; movbe %rdx, 8(%rsp); movbe 8(%rsp), %rdi; mov %fs, %eax; mov %ds, 8(%rsp)
	.irp	n, movzbl, movsbl, movzwl, movswl
	\n	16(%rsp), %eax
	.endr
	.irp	n, movsbq, movswq, movzbq, movzwq, movslq
	\n	16(%rsp), %rax
	.endr
	movabs	$0x80818283848586f7, %rdx; movzbl %dl, %eax; movzbl %dh, %eax; movzwl %dx, %ebx
	movsbl	%dl, %ecx; movsbl %dh, %ecx; movsbq %dl, %rsi; movswq %dx, %rdi; movslq %edx, %r8
	movsbw	%dl, %r9w; movzbw %dl, %r10w; mov %rdx, %rax; cltq; mov %rdx, %rax; cwtl; cbtw; cltd; cqto; cwtd

	/* lea and sums. */
	lea	-16(%rsp,%r12,4), %rax; lea 8(%rdx,%rdx), %eax; lea 8(%rdx,%rdx), %ax; lea (%edx,%edx), %rax
	lea	(,%rdx,8), %rbx; lea here(%rip), %rcx; .byte 0x65, 0x48, 0x8d, 0x04, 0x24
	.irp	op, add, sub
	\op	$-128, %rsp; \op $128, %rbx; \op $0x7fffffff, %r10; \op $-3, %r10d; \op $5, %r10w; \op $5, %bh
	\op	%rdx, %rbx; \op %edx, %ebx; \op %dx, %bx; \op 16(%rsp), %rbx; \op 16(%rsp), %ebx
	\op	%rbx, 16(%rsp); \op %ebx, %ebx; \op $0, %ecx
	.endr
	.irp	op, inc, dec, neg, not
	\op	%rbx; \op %ebx; \op %bx; \op %bl; \op %bh; \op\()q 16(%rsp)
	.endr
	.irp	op, adc, sbb, and, or, xor, test, cmp
	\op	$-16, %rbx; \op $-16, %ebx; \op $15, %rbx; \op $0x7fffffff, %ecx; \op $3, %bl; \op %rdx, %rbx
	\op	%edx, %ebx; \op %rbx, 16(%rsp); \op %rsi, %rsi; \op %edi, %edi
	.endr
	lock orq	$0, (%rsp); lock addl $0, 16(%rsp); mov 16(%rsp), %rax

	/* Comparisons for branches. */
	mov	$-1, %rax; mov $5, %ebx
	.irp	cc, e, ne, a, ae, b, be, l, ge, s, p, o
	cmp	$5, %ebx; j\cc 1f; nop
1:	cmp	%rax, %rbx; j\cc 1f; nop
1:	cmp	%bl, %al; j\cc 1f; nop
1:	cmp	$-1, %al; j\cc 1f; nop
1:	cmp	$-1, %ax; j\cc 1f; nop
1:	cmp	%bh, %al; j\cc 1f; nop
1:	test	%rax, %rax; j\cc 1f; nop
1:	dec	%ebx; j\cc 1f; nop
1:
	.endr
	mov	$3, %ecx
1:	loop	1b; mov $3, %ecx
1:	cmp	%ecx, %ecx; loope 1b; mov $3, %ecx
1:	test	%rsp, %rsp; loopne 1b; jrcxz 1f
1:	jecxz	1f; nop
1:
	.irp	cc, e, ne, a, be, s
	cmov\cc	%rax, %rdi; cmov\cc %ebx, %esi; cmov\cc 16(%rsp), %r8; set\cc %bl; set\cc 16(%rsp)
	.endr

	/* Calls and jumps. */
	call	1f
1:	pop	%rax; call returns; call returns_more; add $-24, %rsp; add $24, %rsp; lea returns(%rip), %rbx
	call	*%rbx; mov %rbx, 32(%rsp); call *32(%rsp); call *pointer(%rip); notrack call *%rbx
	.byte	0x66, 0x66, 0x48, 0xe8; .long returns - . - 4; lea 1f(%rip), %rbx; jmp *%rbx; ud2
1:	lea	1f(%rip), %rbx; mov %rbx, 40(%rsp); notrack jmp *40(%rsp); ud2
1:	mov	$1, %eax; jmp *table(,%rax,8); ud2
go_on:	jmp	1f; ud2
1:	bnd jmp	1f
1:

	/* Strings. */
	.irp	op, movsb, movsw, movsl, movsq, stosb, stosq, lodsb, lodsw, lodsl, lodsq, \
		cmpsb, cmpsw, cmpsl, cmpsq, scasb, scasw, scasl, scasq
	lea	here(%rip), %rsi; lea other(%rip), %rdi; \op; mov $3, %ecx; rep \op; rep \op; std; \op; cld
	.endr
	lea	other(%rip), %rdi; mov $4, %ecx; repne scasb; lea other(%rip), %rbx; xlat

	/* Registers that no operand names. */
	mov	$7, %ebx
	.irp	n, b, w, l, q
	mov	$100, %eax; xor %edx, %edx; mul\n 16(%rsp); imul\n 16(%rsp)
	.endr
	mov	$100, %eax; cltd; div %ebx; mov $100, %eax; cqto; idiv %rbx; mov $100, %eax; div %bl
	imul	%rbx, %rsi; imul $-3, %rsi, %rdi; xor %eax, %eax; xor %ecx, %ecx; cpuid; xor %ecx, %ecx; xgetbv
	rdtsc; rdtscp; lahf; sahf; rdrand %rdi; rdseed %esi; mov $39, %eax; syscall; rdsspq %rax; smsw %ebx
	.irp	n, nop, pause, endbr64, lfence, mfence, sfence, cmc, stc, clc, fnop, emms
	\n
	.endr
	prefetchw	(%rsp); clflush (%rsp); nopw 0x100(%rax,%rax)

	/* Atomic ones. */
	xadd	%rax, %rbx; lock xadd %rax, 16(%rsp); lock xadd %ebx, 16(%rsp); cmpxchg %rbx, %rcx
	mov	%rcx, %rax; cmpxchg %rbx, %rcx; lock cmpxchg %ebx, 16(%rsp); lock cmpxchg %rbx, 16(%rsp)
	lock cmpxchg8b	16(%rsp); lock cmpxchg16b (%rsp); lock cmpxchg16b (%rsp); xchg %rax, 16(%rsp)
	xchg	%al, %ah; xchg %ecx, %edx; xchg %ax, %bx; mov 16(%rsp), %rsi

	/* Bits. */
	mov	$0x1234, %edx
	.irp	op, shl, shr, sar, rol, ror, rcl, rcr
	\op	$3, %rdx; \op %edx; \op %cl, %dx; \op\()q $1, 16(%rsp)
	.endr
	shld	$3, %rdx, %rbx; shrd %cl, %edx, %ebx; bt $3, %rdx; bts $63, %rdx; btr $4, %rdx; btc %ecx, %edx
	btsq	$3, 16(%rsp); mov $70, %ecx; bts %rcx, 16(%rsp); mov 24(%rsp), %rax; bsf %rdx, %rax
	xor	%esi, %esi; bsf %rsi, %rax; bsr %esi, %eax; bswap %rax; bswap %eax; popcnt %rdx, %rax
	tzcnt	%rdx, %rax; lzcnt %edx, %eax; andn %rax, %rdx, %rcx; bextr %rax, %rdx, %rcx
	bzhi	%rax, %rdx, %rcx; blsr %rdx, %rcx; blsi 16(%rsp), %rcx; pdep %rax, %rdx, %rcx
	pext	%eax, %edx, %ecx; mulx %rax, %rbx, %rcx; rorx $3, %rdx, %rcx; shlx %rax, %rdx, %rcx
	sarx	%eax, 16(%rsp), %ecx; adcx %rax, %rcx; adox %eax, %ecx; crc32q %rax, %rcx

	/* Vectors to and from registers and memory. */
	mov	%rdx, 64(%rsp); movq %rdx, %xmm0; movaps %xmm0, 64(%rsp); mov 64(%rsp), %rax
	vmovups	%ymm0, 96(%rsp); mov 96(%rsp), %rax; vmovdqa 64(%rsp), %xmm1; movq %xmm1, %rbx; movd %xmm1, %ecx
	movnti	%rdx, 64(%rsp); mov 64(%rsp), %rax; pextrq $0, %xmm0, %rax; pextrw $1, %xmm0, %ecx
	vpextrb	$2, %xmm0, 64(%rsp); pinsrq $1, %rax, %xmm0; pmovmskb %xmm0, %eax; vpmovmskb %ymm0, %ecx
	movmskpd	%xmm0, %edx; cvtsi2sd %rax, %xmm2; cvttsd2si %xmm2, %rcx; cvtsd2si %xmm2, %ecx
	ucomisd	%xmm2, %xmm0; ptest %xmm0, %xmm1; mov $3, %eax; mov $3, %edx; pcmpestri $0, %xmm0, %xmm1
	pcmpistri	$0, %xmm0, %xmm1; pcmpistrm $0, %xmm0, %xmm1; lea 64(%rsp), %rdi
	maskmovdqu	%xmm0, %xmm1; mov 64(%rsp), %rax; vpxor %ymm3, %ymm3, %ymm3
	vpcmpeqd	%ymm4, %ymm4, %ymm4; vpgatherdd %ymm4, (%rsp,%ymm3,4), %ymm5; vzeroupper; fld1
	fstpt	64(%rsp); fnstsw %ax; fnstcw 64(%rsp); fnstenv 64(%rsp); mov 88(%rsp), %rax; fxsave 64(%rsp)
	mov	64(%rsp), %rax; mov 480(%rsp), %rax; stmxcsr 64(%rsp); ldmxcsr 64(%rsp)

	mov	$231, %eax; xor %edi, %edi; syscall; hlt

returns: endbr64; rep ret
returns_more: pop	%rax; sub $24, %rsp; push %rax; ret $24

	.section .rodata
	.balign 8
table:	.quad	0, go_on
pointer: .quad	returns

	.data
	.skip	64
here:	.ascii	"some bytes, and a few more of them, for what reads strings......"
other:	.ascii	"some other bytes, which are written, and read again, and compared"; .skip 64
	.section .note.GNU-stack, "", @progbits
