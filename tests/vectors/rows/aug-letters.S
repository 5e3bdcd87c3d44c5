/* SPDX-License-Identifier: MIT */
/* Augmentations z, P, L, R, S, B, G: their data, and what they say. */
#include "raw.h"

	cie_head cie, 1, zPLRSBG
	.uleb128 7
	.byte 0x9b			/* P: indirect pcrel sdata4 */
	.long func - .
	.byte 0x1b, 0x1b		/* L, R */
	usual_rules cie
	begin one
	.long . - cie
	.long func - ., 0x10
	.uleb128 4			/* LSDA */
	.long 0
	end one
