/* SPDX-License-Identifier: MIT */
/* A function of 2 GiB with a rule over the PC: opaque at once, not PC by PC. */
#include "raw.h"

	usual_cie cie
	begin huge
	.long . - cie
	.long func - ., 0x7fffffff
	.uleb128 0
	.byte 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	end huge
