/* SPDX-License-Identifier: MIT */
/*
 * A function with 80,000 rows, and as many rivals that each claim one byte of it: looking for the
 * row of each piece from the first row on took 12 seconds for 2 MB.
 */
#include "raw.h"
	.text
code:
	.space	320000, 0x90
	.section .cfi_bytes
	usual_cie cie
	begin long
	.long	. - cie
	.long	code - .
	.long	320000
	.uleb128 0
	.rept	40000
	.byte	0x41, 0x0e, 16, 0x41, 0x0e, 8
	.endr
	end long
	.set	i, 0
	.rept	80000
	.long	2f - 1f
1:	.long	. - cie
	.long	code + i - .
	.long	1
	.byte	0, 0, 0, 0
2:	.set	i, i + 4
	.endr
	.long	0
