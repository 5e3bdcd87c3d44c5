/* SPDX-License-Identifier: MIT */
/* A zero terminator with records after it, and silent ones at the end. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	end one
	.long 0, 0, 0
	fde two, cie, 0x10, 0x10
	end two
	.long 0, 0, 0
