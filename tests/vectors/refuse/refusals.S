/* SPDX-License-Identifier: MIT */
/*
 * The vectors of refusals, one for each. The build assembles this file once for each NAME, with the
 * symbol NAME defined. check_refusal.py reads the comments:
 *
 *     MACHINE NAME                 the head of a comment, and then what it is about
 *     refused: N                   bytes that have no rows, all of one function (8 unless given)
 *     kept: OFF+SIZE ...           what has rows, from the symbol func (0+4 12+4 unless given)
 *     kept-v3: ...                 the same for version 3 where it refuses nothing
 *     versions: ...                that the machine has (all three unless given)
 *     options: ...                 of eh2sframe
 */
	.macro begin
	.text
	.globl func
	.type func, %function
func:	.cfi_startproc
	.endm

	.macro end
	.cfi_endproc; .size func, . - func
	.endm

	/* What most are: 4 bytes, "on", 8 bytes that are refused, "off", 4 bytes. */
	.macro refusal name, on, off
	.ifdef \name
	begin; .skip 4, 0x90; \on; .skip 8, 0x90; \off; .skip 4, 0x90; end
	.endif
	.endm

	/* An .eh_frame without directives: a CIE (pcrel sdata8; CFA = rsp + 8, RA at CFA - 8), then an FDE. */
	.macro cie
	.section .eh_frame, "a", @unwind
cie:	.long cie_end - cie_body
cie_body: .long 0; .byte 1; .asciz "zR"; .byte 1, 0x78, 16, 1, 0x1c; .byte 0x0c, 7, 8, 0x90, 1; .balign 8, 0
cie_end:
	.endm

	.macro fde name, start, size, cfa_offset
	.long \name\()_end - \name\()_body
\name\()_body:
	.long . - cie; .quad \start - ., \size; .uleb128 0; .byte 0x0e, \cfa_offset; .balign 8, 0
\name\()_end:
	.endm

/*
 * x86_64 broken_program
 * An opcode that nobody defined, behind four good bytes: what it means for the rest is not
 * known, so that the whole function is left out. The next one is kept.
 * refused: 7
 * kept: 7+5
 */
	.ifdef broken_program
	begin; .skip 4, 0x90; .cfi_escape 0x3e; .skip 3, 0x90; .cfi_endproc; .cfi_startproc; .skip 5, 0x90; end
	.endif

/*
 * x86_64 cfa_expression
 * The CFA is the sum of two registers (breg7 0; breg0 0; plus), which no row can say at any PC.
 */
	refusal cfa_expression, ".cfi_escape 0x0f, 5, 0x77, 0, 0x70, 0, 0x22", ".cfi_def_cfa 7, 8"

/*
 * x86_64 cfa_memory
 * The body of a function that realigns the stack: the CFA is what memory at rbp - 8 holds
 * (breg6 -8; deref).
 * kept-v3: 0+16
 */
	refusal cfa_memory, ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06", ".cfi_def_cfa 7, 8"

/*
 * x86_64 cfa_offset
 * A frame of 2 GiB: the CFA offset is one more than 31 bits can say.
 */
	refusal cfa_offset, ".cfi_def_cfa_offset 0x80000000", ".cfi_def_cfa_offset 0x7fffffff"

/*
 * x86_64 cfa_register
 * A prologue that realigns the stack: the CFA is r10 for a while, and a row of version 2
 * knows SP and FP only.
 * kept-v3: 0+16
 */
	refusal cfa_register, ".cfi_def_cfa 10, 0", ".cfi_def_cfa 7, 8"

/*
 * x86_64 excluded
 * Left out because the user says so, by one of the names of a function, and not the one that the
 * report tells.
 * options: --exclude-symbol=secret_*
 * refused: 7
 * kept: 0+5
 */
	.ifdef excluded
	begin; .skip 5, 0x90; end
	.globl alias
	.type alias, %function; .type secret_handshake, %function
alias:
secret_handshake: .cfi_startproc; .skip 7, 0x90; .cfi_endproc; .size alias, . - alias
	.size secret_handshake, . - secret_handshake
	.endif

/*
 * x86_64 fp_expression
 * The caller's frame pointer is the number CFA - 16, not what is saved there.
 */
	refusal fp_expression, ".cfi_val_offset 6, -16", ".cfi_restore 6"

/*
 * x86_64 fp_memory
 * The caller's frame pointer is saved at rsp + 16 (breg7 16). That the CFA is rsp + 32 makes it CFA - 16
 * here, but the rule is not relative to the CFA.
 * kept-v3: 0+16
 */
	refusal fp_memory, ".cfi_def_cfa_offset 32; .cfi_escape 0x10, 6, 2, 0x77, 16", ".cfi_restore 6; .cfi_def_cfa_offset 8"

/*
 * x86_64 fp_offset
 * The caller's frame pointer is saved one slot further from the CFA than 32 bits can say. The
 * nearest place that can be said, which follows, is kept. (offset_extended_sf 6, 2^28 + 1)
 */
	refusal fp_offset, ".cfi_escape 0x11, 6, 0x81, 0x80, 0x80, 0x80, 0x01", ".cfi_offset 6, -0x80000000"

/*
 * x86_64 fp_register
 * The caller's frame pointer is kept in rbx.
 * kept-v3: 0+16
 */
	refusal fp_register, ".cfi_register 6, 3", ".cfi_restore 6"

/*
 * x86_64 fp_undefined
 * The caller's frame pointer is lost. No word for FP would mean that it is unchanged.
 */
	refusal fp_undefined, ".cfi_undefined 6", ".cfi_restore 6"

/*
 * x86_64 function_size
 * One FDE for 4 GiB of code and a byte, in a segment of memory that no file bytes fill: the size
 * field of a function has 32 bits. The function behind it is kept.
 * refused: 4294967296
 * kept: 0+5
 */
	.ifdef function_size
	.section .huge, "ax", @nobits
huge:	.skip 0x100000000
	.text
	.globl func
func:
code:	.skip 5, 0x90; cie; fde all, huge, 0x100000000, 8; fde one, code, 5, 8
	.endif

/*
 * x86_64 no_cfa
 * The CIE has no rules at all, and the FDE gives one for the CFA only after 7 bytes. Another
 * function of 4 bytes is before it.
 * refused: 7
 * kept: 0+4 11+5
 */
	.ifdef no_cfa
	begin; .skip 4, 0x90; .cfi_endproc; .cfi_startproc simple; .cfi_offset 16, -8; .skip 7, 0x90
	.cfi_def_cfa 7, 8; .skip 5, 0x90; end
	.endif

/*
 * x86_64 not_code
 * CFI for bytes in a writable data segment, as a damaged linker script might leave behind.
 * refused: 7
 * kept: 0+5
 */
	.ifdef not_code
	begin; .skip 5, 0x90; end
	.data
	.cfi_startproc; .skip 7; .cfi_endproc
	.endif

/*
 * x86_64 overlap
 * Two FDEs of the same size that say different things about the seven bytes they share. What
 * each alone describes is kept.
 * refused: 7
 * kept: 0+4 11+4
 */
	.ifdef overlap
	.text
	.globl func
func:
code:	.skip 15, 0x90; cie; fde low, code, 11, 8; fde high, code + 4, 11, 16
	.endif

/*
 * x86_64 ra_elsewhere
 * The return address is saved 16 below the CFA, and not the 8 where the call puts it.
 * kept-v3: 0+16
 */
	refusal ra_elsewhere, ".cfi_offset 16, -16", ".cfi_restore 16"

/*
 * x86_64 ra_expression
 * The return address is not saved at CFA - 8, it is the number CFA - 8.
 */
	refusal ra_expression, ".cfi_val_offset 16, -8", ".cfi_restore 16"

/*
 * x86_64 ra_offset
 * The return address is saved one slot further from the CFA than 32 bits can say. The
 * nearest place that can be said needs version 3. (offset_extended_sf 16, 2^28 + 1)
 */
	refusal ra_offset, ".cfi_escape 0x11, 16, 0x81, 0x80, 0x80, 0x80, 0x01", ".cfi_restore 16"

/*
 * x86_64 ra_register
 * A millicode routine: the return address is in rax.
 * kept-v3: 0+16
 */
	refusal ra_register, ".cfi_register 16, 0", ".cfi_restore 16"

/*
 * x86_64 ra_undefined
 * As _start: the return address is undefined, this is the outermost frame. The FP is undefined
 * too, but the reason that is counted is the return address.
 * kept-v3: 0+16
 */
	refusal ra_undefined, ".cfi_undefined 16; .cfi_undefined 6", ".cfi_restore 16; .cfi_restore 6"

/*
 * x86_64 ra_unsaved
 * The return address is said to be unchanged, where the call instruction has pushed it.
 */
	refusal ra_unsaved, ".cfi_same_value 16", ".cfi_restore 16"

/*
 * x86_64 register_number
 * The CFA is based on register 32, one more than a row's readers look at; 31 needs version 3.
 */
	refusal register_number, ".cfi_def_cfa 32, 8", ".cfi_def_cfa 7, 8"

/*
 * x86_64 return_column
 * The CIE's return address column is rbx, though rbx is saved where a return address would be.
 * refused: 7
 * kept: 7+5
 */
	.ifdef return_column
	begin; .cfi_return_column 3; .cfi_offset 3, -8; .skip 7, 0x90; .cfi_endproc; .cfi_startproc
	.skip 5, 0x90; end
	.endif

/*
 * x86_64 signal_frame
 * The CIE says S: the PC of this frame is where a signal came, not behind a call. Another
 * function follows, to be kept.
 * refused: 7
 * kept: 7+5
 * kept-v3: 0+7 7+5
 */
	.ifdef signal_frame
	begin; .cfi_signal_frame; .skip 7, 0x90; .cfi_endproc; .cfi_startproc; .skip 5, 0x90; end
	.endif

/*
 * x86_64 sp_rule
 * The caller's stack pointer is CFA + 16 and not the CFA: a callee that pops its arguments.
 */
	refusal sp_rule, ".cfi_val_offset 7, 16", ".cfi_val_offset 7, 0"

/*
 * aarch64 fp_alone
 * The frame pointer is saved, the link register is not: its word would stand in the place
 * of the return address's.
 * kept: 0+4 12+8
 */
	.ifdef fp_alone
	begin; .skip 4; .cfi_def_cfa_offset 16; .cfi_offset 29, -16; .skip 8; .cfi_offset 30, -8; .skip 4
	.cfi_restore 29; .cfi_restore 30; .cfi_def_cfa_offset 0; .skip 4; end
	.endif

/*
 * aarch64 ra_signed_pc
 * PAuth_LR: the signature depends on the address of the signing instruction, which a row
 * has no word for. (negate_ra_state_with_pc)
 */
	refusal ra_signed_pc, ".cfi_escape 0x2c", ".cfi_escape 0x2c"

/*
 * aarch64 code_disagrees
 * The CFI says that SP moved by 16, and no instruction moves it.
 * options: --code=refuse
 */
	.ifdef code_disagrees
	begin; nop; .cfi_def_cfa_offset 16; nop; nop; .cfi_def_cfa_offset 0; ret; end
	.endif

/*
 * s390x cfa_alignment
 * A CFA that is not a number of doublewords away.
 * versions: 2 3
 */
	refusal cfa_alignment, ".cfi_def_cfa_offset 164", ".cfi_def_cfa_offset 168"

/*
 * s390x cfa_near_sp
 * A CFA below the 160 bytes that a caller leaves above %r15.
 * versions: 2 3
 */
	refusal cfa_near_sp, ".cfi_def_cfa_offset 152", ".cfi_def_cfa_offset 160"

/*
 * s390x odd_slot
 * The return address at an odd offset: version 2 would read the number of a register.
 * (expression: lit7, minus)
 * versions: 2 3
 * kept-v3: 0+16
 */
	refusal odd_slot, ".cfi_escape 0x10, 14, 2, 0x37, 0x1c", ".cfi_restore 14"

/*
 * s390x ra_at_cfa
 * The return address is saved at the CFA: in a row without control words 0 is padding.
 * versions: 2 3
 * kept-v3: 0+16
 */
	refusal ra_at_cfa, ".cfi_offset 14, 0", ".cfi_restore 14"

	.section .note.GNU-stack, "", %progbits
