/* SPDX-License-Identifier: MIT */
/* Expressions for fuzz_expr, each behind a byte that says how it is read: the CFA of a PLT entry by GNU ld, and the
 * same by a branch; and one that libFuzzer found: where the file is loaded higher, a branch depends on more of the
 * PC than where it is not. */
	.text
	.globl	_start
_start:
	ret
	.section .expr, "a"
#ifdef BRANCH
	.byte 0			/* little-endian, addresses of 8 bytes */
	.byte 0x77, 8		/* DW_OP_breg7 (rsp) 8 */
	.byte 0x80, 0		/* DW_OP_breg16 (rip) 0 */
	.byte 0x3f, 0x1a	/* DW_OP_lit15, DW_OP_and */
	.byte 0x3b, 0x2a	/* DW_OP_lit11, DW_OP_ge */
	.byte 0x28, 3, 0	/* DW_OP_bra over what follows */
	.byte 0x2f, 2, 0	/* DW_OP_skip to the end */
	.byte 0x38, 0x22	/* DW_OP_lit8, DW_OP_plus */
#elif defined WRAP
	.byte 0
	.byte 0x77, 8		/* DW_OP_breg7 (rsp) 8 */
	.byte 0x80, 22		/* DW_OP_breg16 (rip) 22 */
	.byte 0x80, 63		/* DW_OP_breg16 (rip) 63 */
	.byte 0x03		/* DW_OP_addr: bit 47 */
	.byte 0, 0, 0, 0, 0, 0x80, 0, 0
	.byte 0x1a		/* DW_OP_and */
	.byte 0x3b, 0x2a	/* DW_OP_lit11, DW_OP_ge */
	.byte 0x28, 4, 0	/* DW_OP_bra over what follows */
	.byte 0x16		/* DW_OP_swap */
	.byte 0x2f, 6, 0	/* DW_OP_skip to the end */
	.byte 0x3b, 0x2a	/* DW_OP_lit11, DW_OP_ge: PCs near 2^63 are negative */
	.byte 0x28, 1, 0	/* DW_OP_bra over what follows */
	.byte 0x16		/* DW_OP_swap: there is one value alone */
#else
	.byte 0
	.byte 0x77, 8		/* DW_OP_breg7 (rsp) 8 */
	.byte 0x80, 0		/* DW_OP_breg16 (rip) 0 */
	.byte 0x3f, 0x1a	/* DW_OP_lit15, DW_OP_and */
	.byte 0x3b, 0x2a	/* DW_OP_lit11, DW_OP_ge */
	.byte 0x33, 0x24, 0x22	/* DW_OP_lit3, DW_OP_shl, DW_OP_plus */
#endif
	.section .note.GNU-stack, "", @progbits
