/* SPDX-License-Identifier: MIT */
/* The last instruction lacks its operand; the next FDE is as before. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	.byte 0x44, 0x44, 0x0f, 0x7f
	end one
	fde two, cie, 0x10, 0x10
	end two
