/* SPDX-License-Identifier: MIT */
/* set_loc may not go back. */
#include "raw.h"

	usual_cie cie
	fde one, cie, 0, 0x10
	.byte 0x48
	.byte 0x01
	.long func + 4 - .
	end one
	fde two, cie, 0x10, 0x10
	end two
