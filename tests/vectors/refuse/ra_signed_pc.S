/* SPDX-License-Identifier: MIT */
/*
 * PAuth_LR: the signature depends on the address of the signing instruction, which a row
 * has no word for.
 * expect: ra-signed-pc functions=1 bytes=8
 * kept: 0+4 12+4
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x2c	/* negate_ra_state_with_pc */
	.skip 8
	.cfi_escape 0x2c
	.skip 4
	.cfi_endproc
	.size func, . - func
