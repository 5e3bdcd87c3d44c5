/* SPDX-License-Identifier: MIT */
/*
 * s390x: return address and frame pointer in the register save area, in floating point
 * registers, or still in their own; the stack pointer's own slot; and what a version
 * cannot say.
 */
	.macro begin name
	.globl \name
	.type \name, @function
\name:	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc; .size \name, . - \name
	.endm
	.text

	begin leaf; .skip 8; end leaf
	/* As compilers do: stmg of r11 to r15, and a new frame. */
	begin usual; .skip 6; .cfi_offset 11, -72; .cfi_offset 12, -64; .cfi_offset 13, -56; .cfi_offset 14, -48
	.cfi_offset 15, -40; .skip 4; .cfi_def_cfa_offset 336; .skip 4; .cfi_def_cfa_register 11; .skip 20
	.cfi_restore 15; .cfi_restore 14; .cfi_restore 13; .cfi_restore 12; .cfi_restore 11
	.cfi_def_cfa 15, 160; .skip 2; end usual
	/* A leaf that needs r11 and r14, and has floating point registers to spare. */
	begin in_registers; .skip 4; .cfi_register 11, 16; .cfi_register 14, 17; .cfi_register 15, 18; .skip 8
	.cfi_restore 14; .cfi_restore 11; .skip 2; end in_registers
	/* The frame pointer alone: a padding word in the place of the return address. */
	begin padding; .skip 6; .cfi_offset 11, -72; .skip 8; .cfi_register 11, 31; .skip 2; end padding
	/* One in memory, the other in a register. */
	begin mixed; .skip 6; .cfi_offset 14, -48; .cfi_register 11, 16; .skip 8; end mixed
	/* An offset whose word has two bytes, and one of four. */
	begin large; .skip 6; .cfi_offset 14, -48; .skip 6; .cfi_def_cfa_offset 8192; .skip 6
	.cfi_def_cfa_offset 1048736; .skip 2; end large
	/* val_offset r15: the stack pointer is what a row takes it for; or is not. */
	begin sp_said; .cfi_escape 0x14, 15, 20; .skip 4; .cfi_escape 0x14, 15, 0; .skip 4; end sp_said
	/* In a signal frame what is saved of r15 is not the value at an entry. */
	begin signal; .cfi_signal_frame; .cfi_offset 14, -48; .skip 4; .cfi_offset 15, -40; .skip 4; end signal
	begin flexible; .cfi_offset 14, -48; .cfi_def_cfa_register 13; .skip 4
	.cfi_escape 0x0f, 4, 0x7b, 0xa0, 0x01, 0x06	/* CFA = *(r11 + 160) */
	.skip 4; end flexible
	begin _start; .cfi_undefined 14; .skip 6; end _start
