/* SPDX-License-Identifier: MIT */
/*
 * The build assembles this file once for each NAME of an .ifdef, with the symbol NAME defined. calls,
 * tlsdesc, got, variants and ifunc are for linkers to give a PLT; plts.txt says what the others are.
 */
	.macro plt name
	.section \name, "ax", %progbits
	.p2align 4
	.endm

	.macro words count, what:vararg
	.rept \count
	\what
	.endr
	.endm

	.macro begin
	.text
	.globl func
	.type func, %function
func:	.cfi_startproc
	.endm

	.macro end
	ret; .cfi_endproc; .size func, . - func
	.endm

	/* What a PLT that is here needs besides: a function, and slots on a page of their own. */
	.macro by_hand
	begin; end
	.section .slots, "aw", %progbits
	.p2align 12
slots:	.skip 64
	.endm

	/* The slot's address, and what it holds; "add" is a NOP where it would add nothing. */
	.macro load slot, add=add
	adrp x16, slots + \slot; ldr x17, [x16, :lo12:slots + \slot]; .ifc \add, nop; nop
	.else
	add x16, x16, :lo12:slots + \slot
	.endif
	.endm

	.macro header slot, add=add
	stp x16, x30, [sp, #-16]!; load \slot, \add; br x17
	.endm

	.macro tlsdesc_stub
	stp x2, x3, [sp, #-16]!; adrp x2, slots + 32; adrp x3, slots; ldr x2, [x2, :lo12:slots + 32]; nop; br x2
	.endm

	.macro variable
	adrp x0, :tlsdesc:variable; ldr x1, [x0, :tlsdesc_lo12:variable]; add x0, x0, :tlsdesc_lo12:variable
	.tlsdesccall variable; blr x1
	.endm

	.ifdef calls
	begin; bl first; bl second; end
	.endif

	/* One with another calling convention, and a variable of a thread. */
	.ifdef variants
	.variant_pcs second
	begin; bl first; bl second; variable; end
	.endif

	.ifdef tlsdesc
	begin; variable; end
	.endif

	.ifdef got
	begin; bl first; bl second; bl third; adrp x0, :got:third; ldr x0, [x0, :got_lo12:third]; end
	.endif

	/* Two indirect functions, called. */
	.ifdef ifunc
	.hidden chosen, picked
	.globl chosen, picked
	.type chosen, %gnu_indirect_function; .type picked, %gnu_indirect_function
	begin; bl chosen; bl picked; end
chosen:
picked:	.cfi_startproc; ret; .cfi_endproc
	.endif

	.ifdef mold_2
	plt .plt; header 16; words 3, brk #1000; load 24; br x17; load 32; br x17; plt .plt.got
	adrp x16, slots + 40; ldr x17, [x16, :lo12:slots + 40]; br x17; brk #1000; by_hand
	.endif

	.ifdef nop_plain
	plt .plt; header 0, nop; words 3, nop; load 0, nop; br x17; load 8; br x17; tlsdesc_stub; words 2, nop
	by_hand
	.endif

	.ifdef nop_bti
	plt .plt; bti c; header 0, nop; words 2, nop; bti c; load 0, nop; br x17; nop; bti c; load 8; br x17
	nop; bti c; tlsdesc_stub; nop; by_hand
	.endif

	.ifdef nop_pac
	plt .plt; bti c; header 0, nop; words 2, nop; load 0, nop; autia1716; br x17; nop; bti c; load 0, nop
	autia1716; br x17; bti c; load 8; autia1716; br x17; by_hand
	.endif
