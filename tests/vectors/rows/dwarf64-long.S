/* SPDX-License-Identifier: MIT */
/* A 64-bit length that overflows. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	end one
	.long 0xffffffff
	.quad -1
	.zero 16
