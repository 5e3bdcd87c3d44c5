/* SPDX-License-Identifier: MIT */
/*
 * A version 3 section with what GNU as 2.47 writes for these directives, byte for byte in
 * kind: what it gets wrong (fault_*), what it leaves out (skipped_*), and what is right
 * and yet unusual (good_*): registers above 31, functions of size 0, a row at the end of
 * a function, functions without rows. The section is named .sframe after the link.
 */
#include "gsframe.inc"

	.text
	begin good_frame; set_up; end good_frame
	begin good_high_register; .skip 1, 0x90; .cfi_def_cfa 130, 8; .skip 7, 0x90; end good_high_register
	begin good_realigned; .cfi_def_cfa 10, 0; .skip 4, 0x90
	.cfi_escape 0x10, 6, 2, 0x76, 0 /* FP: breg6 0 */
	.skip 4, 0x90; .cfi_escape 0x0f, 3, 0x76, 0x78, 6 /* CFA: breg6 -8, deref */
	.skip 4, 0x90; end good_realigned
	begin good_end; .skip 8, 0x90; .cfi_def_cfa_offset 16; end good_end
	begin good_empty; end good_empty
	begin good_nothing_said, simple; .skip 8, 0x90; end good_nothing_said
	begin good_outermost; .skip 4, 0x90; .cfi_undefined 16; .skip 4, 0x90; end good_outermost
	begin good_signal; .cfi_signal_frame; .skip 8, 0x90; end good_signal
	begin skipped_signal; .cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 160, 1, 6 /* CFA: breg7 160, deref */
	.skip 8, 0x90; end skipped_signal
	begin skipped_expression; .skip 4, 0x90; .cfi_escape 0x16, 6, 2, 0x77, 8 /* FP is breg7 8 */
	.skip 4, 0x90; end skipped_expression
	/* The register of an expression that it does not know becomes -1. */
	begin fault_fp_expression; .skip 2, 0x90; .cfi_escape 0x10, 6, 2, 0x77, 8 /* FP: breg7 8 */
	.skip 6, 0x90; end fault_fp_expression
	/* An expression for the return address is passed over. */
	begin fault_ra_expression; .skip 2, 0x90; .cfi_escape 0x10, 16, 2, 0x76, 8 /* RA: breg6 8 */
	.skip 6, 0x90; end fault_ra_expression
	/* A stack of remembered states is one deep. */
	begin fault_nested_remember; .skip 1, 0x90; .cfi_def_cfa_offset 16; remember_two
	end fault_nested_remember
	.macro index name
	.quad \name - .; .long end_\name - \name, attribute_\name - rows
	.endm
	/* info: 0x80 signal frame; info2: 1 flexible */
	.macro attribute name, n_rows, info=0, info2=0
attribute_\name: .short \n_rows; .byte \info, \info2, 0
	.endm

	.section .sframe_to_be, "a"
	.short 0xdee2; .byte 3, 5, 3, 0, -8, 0
	.long (index_end - index_begin) / 16, 23, rows_end - rows, 0, index_end - index_begin
index_begin: index good_frame; index good_high_register; index good_realigned; index good_end; index good_empty
	index good_nothing_said; index good_outermost; index good_signal; index skipped_signal
	index fault_fp_expression; index fault_ra_expression; index fault_nested_remember
index_end:
rows:
	/* Rows: start, 1 for SP | words << 1 | log2 of their size << 5, words. */
	attribute good_frame, 3; .byte 0, 3, 8; .byte 1, 5, 16, -16; .byte 4, 4, 16, -16
	attribute good_high_register, 2, 0, 1; .byte 0, 4, 57, 8; .byte 1, 0x24; .short 130 << 3 | 1, 8
	attribute good_realigned, 3, 0, 1; .byte 0, 4, 81, 0; .byte 4, 10, 81, 0, 0, 51, 0
	.byte 8, 10, 51, -8, 0, 51, 0; attribute good_end, 2; .byte 0, 3, 8; .byte 8, 3, 16
	attribute good_empty, 1; .byte 0, 3, 8; attribute good_nothing_said, 0; attribute good_outermost, 2
	.byte 0, 3, 8; .byte 4, 0; attribute good_signal, 1, 0x80; .byte 0, 3, 8
	attribute skipped_signal, 0, 0x80; attribute fault_fp_expression, 2, 0, 1; .byte 0, 4, 57, 8
	.byte 2, 0x4a; .long 57, 8, 0, -1 << 3 | 3, 8; attribute fault_ra_expression, 2; .byte 0, 3, 8
	.byte 2, 3, 8; attribute fault_nested_remember, 5; .byte 0, 3, 8; .byte 1, 3, 24; .byte 2, 3, 32
	.byte 3, 3, 24; .byte 4, 3, 24
rows_end:
	.section .note.GNU-stack, "", @progbits
