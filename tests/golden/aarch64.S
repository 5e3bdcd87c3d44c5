/* SPDX-License-Identifier: MIT */
/*
 * AArch64: the return address in the link register, saved with and without the frame
 * pointer, signed with either key; and what no version can say. Assembled for both byte
 * orders.
 */
	.macro begin name
	.globl \name
	.type \name, %function
\name:	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc; .size \name, . - \name
	.endm
	.text

	/* Never saves anything. */
	begin leaf; .skip 8; end leaf
	/* Moves the stack pointer only. */
	begin leaf_with_frame; .skip 4; .cfi_def_cfa_offset 64; .skip 8; .cfi_def_cfa_offset 0; .skip 4
	end leaf_with_frame
	begin ra_alone; .skip 4; .cfi_def_cfa_offset 16; .cfi_offset 30, -16; .skip 8; .cfi_restore 30
	.cfi_def_cfa_offset 0; .skip 4; end ra_alone
	begin ra_and_fp; .skip 4; .cfi_def_cfa_offset 32; .cfi_offset 29, -32; .cfi_offset 30, -24; .skip 4
	.cfi_def_cfa_register 29; .skip 16; .cfi_def_cfa 31, 0; .cfi_restore 30; .cfi_restore 29; .skip 4
	end ra_and_fp
	/* The epilogue gives back the return address first. */
	begin fp_alone; .skip 4; .cfi_def_cfa_offset 32; .cfi_offset 29, -32; .cfi_offset 30, -24; .skip 8
	.cfi_restore 30; .skip 4; .cfi_restore 29; .cfi_def_cfa_offset 0; .skip 4; end fp_alone
	begin signed_a; .skip 4; .cfi_negate_ra_state; .skip 4; .cfi_def_cfa_offset 16; .cfi_offset 29, -16
	.cfi_offset 30, -8; .skip 8; .cfi_remember_state; .cfi_restore 30; .cfi_restore 29
	.cfi_def_cfa_offset 0; .skip 4; .cfi_negate_ra_state; .skip 4; .cfi_restore_state; .skip 4; end signed_a
	begin signed_b; .cfi_b_key_frame; .skip 4; .cfi_window_save /* the same opcode */
	.skip 4; .cfi_def_cfa_offset 16; .cfi_offset 30, -16; .skip 8; end signed_b
	begin signed_with_pc; .skip 4; .cfi_escape 0x2c; .skip 8; .cfi_escape 0x2c; .skip 4; end signed_with_pc
	/* Vector, predicate and pseudo registers; bytes of stack arguments; the alias of
	negate_ra_state before an unknown thing would be wrong. */
	begin others; .cfi_escape 0x05, 72, 2 	/* offset_extended v8 */
	.cfi_escape 0x16, 46, 1, 0x38	/* val_expression VG: 8 */
	.cfi_escape 0x10, 80, 2, 0x11, 8	/* expression v16 */
	.cfi_escape 0x2e, 16		/* GNU_args_size */
	.skip 8; end others
	/* Vectors of a length that only the machine knows, saved between SP and the CFA: as
	GCC says it, SP + 16 + 8 * VG; LLVM goes by the frame pointer. */
	begin scalable; .skip 4; .cfi_escape 0x0f, 8, 0x8f, 16, 0x92, 46, 0, 0x38, 0x1e, 0x22
	.cfi_escape 0x10, 72, 5, 0x92, 46, 0, 0x1c, 0x12	/* expression v8 */
	.cfi_offset 30, -16; .skip 8; .cfi_def_cfa 29, 32; .skip 4; end scalable
	.variant_pcs variant
	begin variant; .cfi_def_cfa_offset 16; .cfi_offset 30, -16; .skip 8; end variant
	/* A signal trampoline with everything where the frame pointer says. */
	begin trampoline; .cfi_signal_frame; .cfi_def_cfa 29, 0; .cfi_offset 29, 0; .cfi_offset 30, 8; .skip 8
	end trampoline
	begin elsewhere; .cfi_register 30, 15; .skip 4; .cfi_restore 30; .cfi_def_cfa 19, 0; .skip 4
	end elsewhere
	begin _start; .cfi_undefined 30; .skip 8; end _start
