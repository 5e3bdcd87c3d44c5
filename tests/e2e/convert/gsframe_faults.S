/* SPDX-License-Identifier: MIT */
/*
 * What GNU as 2.40 -Wa,--gsframe gets wrong, a function each; verify must find them all
 * by name. good_* are what it gets right, and they must not be named.
 */
#include "gsframe.inc"

	.text
	/* Both at one address: the row keeps the offset of the row before. */
	begin fault_register_after_offset; .skip 1, 0x90; .cfi_def_cfa_offset 16; .cfi_def_cfa_register 6
	.skip 7, 0x90; end fault_register_after_offset
	/* A stack of remembered states is one deep. */
	begin fault_nested_remember; .skip 1, 0x90; .cfi_def_cfa_offset 16; .skip 1, 0x90; remember_two
	end fault_nested_remember
	/* Any register but FP is taken for SP. */
	begin fault_other_register; .skip 1, 0x90; .cfi_def_cfa 10, 0; .skip 7, 0x90; .cfi_def_cfa 7, 8
	.skip 1, 0x90; end fault_other_register
	/* Passed over: the outermost frame gets an ordinary row. */
	begin fault_outermost; .cfi_undefined 16; .skip 8, 0x90; end fault_outermost
	/* Passed over: it is said to be a call's frame. */
	begin fault_signal; .cfi_signal_frame; .skip 8, 0x90; end fault_signal
	/* Passed over: the caller's frame pointer is lost. */
	begin fault_lost_fp; .cfi_undefined 6; .skip 8, 0x90; end fault_lost_fp
	/* Passed over: the return address is elsewhere. */
	begin fault_ra_elsewhere; .cfi_offset 16, -16; .skip 8, 0x90; end fault_ra_elsewhere
	/* An instruction that as does not know costs the whole function. */
	begin skipped_escape; .cfi_escape 0x2e, 16 /* GNU_args_size */
	.skip 8, 0x90; end skipped_escape
	begin skipped_register; .skip 4, 0x90; .cfi_register 6, 3; .skip 4, 0x90; end skipped_register
	begin good_frame; set_up; .cfi_restore 6; .cfi_def_cfa 7, 8; .skip 1, 0x90; end good_frame
	begin good_remember; .skip 1, 0x90; .cfi_def_cfa_offset 300; .skip 1, 0x90; .cfi_remember_state
	.cfi_def_cfa_offset 8; .skip 1, 0x90; .cfi_restore_state; .skip 4, 0x90; end good_remember
	.section .note.GNU-stack, "", @progbits
